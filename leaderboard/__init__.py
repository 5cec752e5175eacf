"""Leaderboard: what is shown?"""
