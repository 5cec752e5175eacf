"""How the public site sends mail."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchloop_site.mail import NO_MAIL, Mail, read_mail
from tests.processes import ROOT, environment, finish

PUBLIC = {"BENCHLOOP_ROLE": "public", "SECRET_KEY": "only for tests " * 4}
ASK = "from django.conf import settings as s; print(s.SENDS_MAIL, s.EMAIL_BACKEND, s.%s)"


@pytest.mark.parametrize(
    ("url", "mail"),
    [
        (
            "smtp://ada%40x.example:p%3Ass@mail.example",
            Mail("smtp", "mail.example", 587, "ada@x.example", "p:ss", starttls=True),
        ),
        ("smtps://mail.example:4465", Mail("smtp", "mail.example", 4465, tls=True)),
        ("smtp+plain://127.0.0.1", Mail("smtp", "127.0.0.1", 25)),
        ("console:", Mail("console")),
    ],
)
def test_an_address_says_how_mail_is_sent(url: str, mail: Mail) -> None:
    assert read_mail(url) == mail


@pytest.mark.parametrize(
    "url",
    [
        *("", "mail.example", "http://mail.example", "smtp://", "file://host/x", "file:"),
        *("smtp://a:secret@mail.example:port", "imap://a:secret@mail.example"),
    ],
)
def test_any_other_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL") as raised:
        read_mail(url)
    assert "secret" not in str(raised.value)


def test_a_folder_of_mail_is_its_owners_alone(tmp_path: Path) -> None:
    mail = read_mail(f"file://{tmp_path}/mail")
    assert mail.folder == f"{tmp_path}/mail"
    assert stat.S_IMODE((tmp_path / "mail").stat().st_mode) == 0o700


def setting(home: Path, name: str, **more: str) -> list[str]:
    env = environment(home, DJANGO_SETTINGS_MODULE="benchloop_site.settings", **more)
    for variable in ("EMAIL_URL", "EMAIL_FROM"):
        env.setdefault(variable, "")
    return finish([sys.executable, "-c", ASK % name], env).split()


def test_a_trial_without_https_writes_mail_into_files(tmp_path: Path) -> None:
    backend = "django.core.mail.backends.filebased.EmailBackend"
    assert setting(tmp_path, "EMAIL_FILE_PATH", **PUBLIC) == ["True", backend, f"{tmp_path}/mail"]


def test_over_https_mail_is_sent_or_nobody_signs_up(tmp_path: Path) -> None:
    https = PUBLIC | {"BENCHLOOP_HTTPS": "1", "ALLOWED_HOSTS": "bench.example"}
    assert setting(tmp_path, "MAIL", **https)[:2] == ["False", NO_MAIL.backend_path]
    sent = setting(tmp_path, "DEFAULT_FROM_EMAIL", EMAIL_URL="smtp://mail.example", **https)
    assert sent[0] == "True"
    assert sent[2] == "bench-loop@bench.example"


def test_the_local_site_starts_without_the_packages_of_a_public_one(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['allauth'] = None\n"
        "from django.core.management import call_command; import django; django.setup()\n"
        "call_command('check'); call_command('migrate', verbosity=0)\n"
        "from django.test import Client\n"
        "client = Client(headers={'host': 'localhost'})\n"
        "pages = ('/', '/account/login/', '/admin/login/')\n"
        "print([client.get(page).status_code for page in pages])"
    )
    env = environment(tmp_path, DJANGO_SETTINGS_MODULE="benchloop_site.settings")
    assert finish([sys.executable, "-c", code], env).endswith("[200, 404, 200]\n")


def test_a_public_site_without_its_packages_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['allauth'] = None; import benchloop_site.settings"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**environment(tmp_path, **PUBLIC), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert "pip install 'bench-loop[public]'" in ended.stderr
