"""Submissions: how does a stranger's run come to be shown?"""
