"""The project as Django itself checks it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.management import call_command

from tests.site.site_process import ROOT


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def check(**environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
    )


def test_the_public_role_over_https_is_fit_to_deploy() -> None:
    ended = check(
        BENCHLOOP_ROLE="public",
        BENCHLOOP_HTTPS="1",
        ALLOWED_HOSTS="bench.example",
        SECRET_KEY="a9!" + "k3Jx7Qp2" * 8,
    )
    assert ended.returncode == 0, ended.stderr


def test_the_public_role_needs_a_secret_key() -> None:
    assert "SECRET_KEY" in check(BENCHLOOP_ROLE="public").stderr


def test_an_unknown_role_is_named() -> None:
    assert "must be local or public" in check(BENCHLOOP_ROLE="privat").stderr
