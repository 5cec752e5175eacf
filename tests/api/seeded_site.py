"""A public site in processes of its own, with a few submissions in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.site.make_result import make_bytes
from tests.site.site_process import ROOT, free_port, running_site

UNHURRIED = {
    f"BENCHLOOP_RATE_{name}": "1000000/second"
    for name in ("READ", "UPLOAD", "DRY_RUN", "REPORT", "FAILED_AUTHENTICATION")
}
PEOPLE = """
from django.contrib.auth.models import Permission, User
User.objects.create_user("owner", "owner@mail.example")
moderator = User.objects.create_user("moderator", is_staff=True)
moderator.user_permissions.add(Permission.objects.get(codename="moderate_submission"))
from submissions.keys import create_key
key, text = create_key(User.objects.get(username="owner"))
key.scopes = ["submit", "read", "manage"]
key.save()
print(text)
"""
DECIDE = """
from django.contrib.auth.models import User
from submissions.models import Submission
moderator = User.objects.get(username="moderator")
for name, decision in {decisions!r}.items():
    getattr(Submission.objects.get(run__public_id=name), decision)(moderator, "A reason.")
"""


@dataclass(frozen=True)
class SeededSite:
    """A running site, a key of its one owner, and that owner's submissions by their state."""

    url: str
    key: str
    approved: str
    flagged: str
    pending: str
    spare: str

    @property
    def ids(self) -> list[str]:
        return [self.approved, self.flagged, self.pending, self.spare]


@contextmanager
def seeded_site(home: Path, **environment: str) -> Iterator[SeededSite]:
    """The site with one approved, one flagged and two pending submissions of the user `owner`."""
    settings = {
        "BENCHLOOP_HOME": str(home),
        "BENCHLOOP_ROLE": "public",
        "SECRET_KEY": "k3Jx7Qp2" * 8,
        **environment,
    }
    with running_site(home, "--port", str(free_port()), **settings) as site:
        key = _django(settings, PEOPLE)
        with httpx.Client(
            base_url=site.url, headers={"Authorization": f"Bearer {key}"}, timeout=60
        ) as client:
            ids = [_upload(client, f"model{number}:8b") for number in range(4)]
        decisions = {ids[0]: "approve", ids[1]: "flag"}
        _django(settings, DECIDE.format(decisions=decisions))
        yield SeededSite(site.url, key, *ids)


def _upload(client: httpx.Client, model_id: str) -> str:
    answer = client.post(
        "/api/v1/submissions/",
        content=make_bytes(model_id=model_id),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 201, answer.text
    public_id: str = answer.json()["id"]
    return public_id


def _django(settings: dict[str, str], code: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "benchloop_site", "manage", "shell", "-v", "0", "-c", code],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()
