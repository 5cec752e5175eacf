"""The site's settings for `bench_intake`: the same, but that nobody is slowed down."""

from __future__ import annotations

from benchloop_site.settings import *  # noqa: F403
from benchloop_site.settings import REST_FRAMEWORK as _OF_THE_SITE

_OF_THE_SITE["DEFAULT_THROTTLE_RATES"] = {"submit": "1000000/min"}
