"""Formulas and statistics: pure functions."""
