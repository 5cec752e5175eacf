"""Runs: what happened?"""
