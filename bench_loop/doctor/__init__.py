"""Looks for what would make a benchmark slow, wrong or impossible, and says what mends it."""
