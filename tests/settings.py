"""The site's settings for tests: no setting of the developer's own shell or data folder counts."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

# pytest-django reads the settings before any fixture or conftest runs, and reading them makes the
# secret key: so the data folder must be a temporary one by now.
_OWN = ("ALLOWED_HOSTS", "DATABASE_URL", "EMAIL_FROM", "EMAIL_URL", "REDIS_URL", "SECRET_KEY")
for _name in list(os.environ):
    _is_ours = _name in _OWN or _name.startswith("BENCHLOOP_")
    if _is_ours and not _name.startswith(("BENCHLOOP_TEST_", "BENCHLOOP_REQUIRE_")):
        del os.environ[_name]
os.environ["BENCHLOOP_HOME"] = tempfile.mkdtemp(prefix="benchloop-tests-")
if os.environ.get("BENCHLOOP_TEST_SITE_ON") == "postgresql":
    os.environ["DATABASE_URL"] = os.environ["BENCHLOOP_TEST_DATABASE_URL"]
atexit.register(shutil.rmtree, os.environ["BENCHLOOP_HOME"], ignore_errors=True)

from benchloop_site.accounts.settings import *  # noqa: E402, F403
from benchloop_site.accounts.settings import ACCOUNT_APPS, ACCOUNT_MIDDLEWARE  # noqa: E402
from benchloop_site.settings import *  # noqa: E402, F403
from benchloop_site.settings import INSTALLED_APPS, MIDDLEWARE  # noqa: E402

# The local role, in which one test or another plays the public one: so accounts are installed.
LOGIN_URL = "account_login"
INSTALLED_APPS += ACCOUNT_APPS
MIDDLEWARE += ACCOUNT_MIDDLEWARE
SENDS_MAIL = True
# The hash that takes a second on purpose would take most of the time of the tests.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
