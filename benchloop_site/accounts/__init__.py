"""Accounts of the public site: who is this person, and which keys are theirs?

Signing up, logging in and everything with e-mail and passwords is django-allauth's; here are its
settings, the rules for names, and the pages of one's own runs and keys.
"""
