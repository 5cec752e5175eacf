"""Text that people wrote, for templates: escaped as all text, and with nothing that hides in it."""

from __future__ import annotations

from django import template

from bench_loop.report.printable import printable as shown

register = template.Library()


@register.filter
def printable(text: object) -> str:
    """`text` with control characters and marks of reading direction as escapes."""
    return shown(str(text))
