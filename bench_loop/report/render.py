"""Renders templates outside the site: the only module of BenchLoop's engine that knows Django."""

from __future__ import annotations

from collections.abc import Mapping

from bench_loop.config import bundled


def render(template: str, context: Mapping[str, object]) -> str:
    """`template` from the bundled folder, filled with `context`; everything is escaped.

    Works inside the site and alone. Alone, Django gets the few settings that rendering needs.
    """
    from django.conf import settings
    from django.template import Context, Engine

    if not settings.configured:
        settings.configure(USE_I18N=False, USE_TZ=True)
    engine = Engine(dirs=[str(bundled("templates"))], autoescape=True)
    return engine.get_template(template).render(Context(dict(context)))
