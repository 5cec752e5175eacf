"""Where code that a model wrote is run: the kinds of sandbox, and the ladder that picks one.

`docker`, `bubblewrap` and `subprocess` are the kinds. All start the same supervisor
(`_inside.py`) in their own way and talk to it in the same words (`_session.py`).
"""
