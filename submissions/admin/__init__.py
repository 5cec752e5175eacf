"""Admin pages of the submissions, a module for each."""

from __future__ import annotations

from submissions.admin import audit, keys, people, queue, templates

__all__ = ["audit", "keys", "people", "queue", "templates"]
