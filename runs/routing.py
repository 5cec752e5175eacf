"""Addresses of the websockets."""

from __future__ import annotations

from typing import Any

from django.urls import path

from runs.consumers import EventsConsumer

# Django's own types know only views here.
websocket_urlpatterns: list[Any] = [path("ws/events/", EventsConsumer.as_asgi())]  # type: ignore[arg-type]
