"""Sends uploads to the site under test."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from runs.models import Run
from submissions.models import Submission

SUBMISSIONS = "/api/v1/submissions/"


class Uploader:
    """A client of the API that shows one key with every request."""

    def __init__(self, key: str | None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def post(
        self,
        body: bytes | dict[str, Any],
        *,
        address: str = SUBMISSIONS,
        content_type: str = "application/json",
        **headers: str,
    ) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(
            address, data=data, content_type=content_type, headers={**self.headers, **named}
        )

    def get(self, address: str) -> Any:
        return self.client.get(address, headers=self.headers)

    def delete(self, address: str) -> Any:
        return self.client.delete(address, headers=self.headers)


def rows() -> tuple[int, int]:
    """How many runs and submissions are stored."""
    return Run.objects.count(), Submission.objects.count()


def refused_fields(response: Any) -> dict[str, list[str]]:
    """The fields of an error answer, which must have the one body that all errors have."""
    body = response.json()
    assert set(body) == {"code", "message", "fields"}, body
    fields: dict[str, list[str]] = body["fields"]
    return fields
