"""What runs inside a sandbox beside code that a model wrote, or beside the tests that judge it.

The standard library only, of Python 3.9 and later; nothing here is believed by what is outside.
"""
