"""Addresses of the websockets."""

from __future__ import annotations

from django.urls import path

from runs.consumers import EventsConsumer

websocket_urlpatterns = [path("ws/events/", EventsConsumer.as_asgi())]
