"""Settings of both roles; everything that differs between machines comes from the environment.

BENCHLOOP_ROLE   local (default): one user, loopback only, no uploads. public: a site for others
BENCHLOOP_HOME   data folder: database, queue, results, secrets
SECRET_KEY       required in the public role; the local one is made once, mode 0600
ALLOWED_HOSTS    host names of the public site, separated by commas
DATABASE_URL     default: SQLite in the data folder
REDIS_URL        queue, cache and channel layer on Redis; default: SQLite and memory
BENCHLOOP_CODE_CHECKS   all (default), or how many verdicts of an uploaded run that need code to be
                 run are judged again, drawn by the site for each run
BENCHLOOP_CODE_SANDBOX  where that code is run: auto (default: docker, else bubblewrap), docker,
                 bubblewrap; never in less than that
BENCHLOOP_HTTPS  1: redirect to https, secure cookies, HSTS; the proxy sets X-Forwarded-Proto and
                 X-Forwarded-For
EMAIL_URL        how the public site sends mail (benchloop_site/mail.py has the forms). Without it
                 mail becomes files in the data folder; over https nobody can sign up then
EMAIL_FROM       sender of that mail; default: bench-loop@ the first of ALLOWED_HOSTS
BENCHLOOP_PROXIES            how many proxies add to X-Forwarded-For: 0 and it is not believed;
                             default: 1 with BENCHLOOP_HTTPS, else 0
BENCHLOOP_ANONYMOUS_UPLOADS  1: uploads without a key, at the lowest level

RATES, below, has the variables that say how often one key, and one address, may do what.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from bench_loop import config
from benchloop_site.mail import NO_MAIL, Mail, mail_in, read_mail

LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]


def _role() -> str:
    role = os.environ.get("BENCHLOOP_ROLE", "local")
    if role not in ("local", "public"):
        raise ImproperlyConfigured(f"BENCHLOOP_ROLE is {role!r}; it must be local or public.")
    return role


def _secret_key(role: str) -> str:
    key = os.environ.get("SECRET_KEY")
    if key:
        return key
    if role == "public":
        raise ImproperlyConfigured("The public role needs SECRET_KEY: 50 random characters.")
    return config.private_text("secret_key", lambda: secrets.token_urlsafe(48))


def _allowed_hosts(role: str) -> list[str]:
    if role == "local":
        return list(LOOPBACK_HOSTS)
    named = os.environ.get("ALLOWED_HOSTS", "")
    return [host.strip() for host in named.split(",") if host.strip()] or list(LOOPBACK_HOSTS)


def _code_checks() -> int | None:
    """How many code verdicts of a run are judged again; None: all."""
    asked = os.environ.get("BENCHLOOP_CODE_CHECKS", "all").strip()
    if asked == "all":
        return None
    if not (asked.isascii() and asked.isdigit() and 0 < int(asked) < 1_000_000):
        raise ImproperlyConfigured(
            f"BENCHLOOP_CODE_CHECKS is {asked!r}; it must be all, or a number from 1 up."
        )
    return int(asked)


def _code_sandbox() -> str:
    asked = os.environ.get("BENCHLOOP_CODE_SANDBOX", "auto").strip()
    if asked not in ("auto", "docker", "bubblewrap"):
        raise ImproperlyConfigured(
            f"BENCHLOOP_CODE_SANDBOX is {asked!r}; it must be auto, docker or bubblewrap: code of "
            "strangers is run nowhere else."
        )
    return asked


def _database() -> dict[str, Any]:
    url = os.environ.get("DATABASE_URL")
    if url:
        database: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=60)}
    else:
        database = {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(config.home() / "site.sqlite3"),
        }
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # Writers take the lock when they begin: a read that turns into a write under WAL fails at
        # once, whatever the timeout.
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
        # A file, since threads that share a database in memory do not wait for each other's locks.
        database["TEST"] = {"NAME": str(config.home() / "test.sqlite3")}
    return database


RATES = {
    "BENCHLOOP_RATE_READ": "600/minute",
    "BENCHLOOP_RATE_UPLOAD": "60/minute",
    "BENCHLOOP_RATE_DRY_RUN": "30/minute",
    "BENCHLOOP_RATE_ANONYMOUS_UPLOAD": "10/hour",
    "BENCHLOOP_RATE_REPORT": "10/hour",
    "BENCHLOOP_RATE_FAILED_AUTHENTICATION": "30/minute",
}
"""Variables of the rates, and their defaults."""

_PERIODS_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def _rate(variable: str) -> tuple[int, int]:
    """Requests, and the seconds in which they may come."""
    text = os.environ.get(variable, RATES[variable])
    found = re.fullmatch(rf"([1-9][0-9]{{0,8}})/({'|'.join(_PERIODS_S)})", text)
    if not found:
        raise ImproperlyConfigured(f"{variable} is {text!r}; write it as {RATES[variable]!r}.")
    return int(found[1]), _PERIODS_S[found[2]]


def _proxies(is_https: bool) -> int:
    text = os.environ.get("BENCHLOOP_PROXIES", "1" if is_https else "0")
    if not re.fullmatch("[0-9]", text):
        raise ImproperlyConfigured(f"BENCHLOOP_PROXIES is {text!r}; it is a number from 0 to 9.")
    return int(text)


def _mail(role: str, is_https: bool) -> Mail:
    url = os.environ.get("EMAIL_URL")
    if role == "local":
        return NO_MAIL
    if url:
        return read_mail(url)
    return NO_MAIL if is_https else mail_in(config.home() / "mail")


BASE_DIR = Path(__file__).resolve().parent.parent
BENCHLOOP_ROLE = _role()
HTTPS = os.environ.get("BENCHLOOP_HTTPS") == "1"
REDIS_URL = os.environ.get("REDIS_URL")
PROXIES = _proxies(HTTPS)
API_RATES = {name.partition("RATE_")[2].lower(): _rate(name) for name in RATES}
ANONYMOUS_UPLOADS = os.environ.get("BENCHLOOP_ANONYMOUS_UPLOADS") == "1"
CODE_CHECKS = _code_checks()
CODE_SANDBOX = _code_sandbox()

SECRET_KEY = _secret_key(BENCHLOOP_ROLE)
DEBUG = False
ALLOWED_HOSTS = _allowed_hosts(BENCHLOOP_ROLE)
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if HTTPS else []

INSTALLED_APPS = [
    "runs",
    "leaderboard",
    "submissions",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "django_htmx",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "benchloop_site.middleware.SecurityHeaders",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "benchloop_site.urls"
ASGI_APPLICATION = "benchloop_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [config.bundled("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "benchloop_site.context.accounts",
            ]
        },
    }
]

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Counters of requests live here, so it must be one for all processes.
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {
        "BACKEND": "benchloop_site.shared_cache.SQLiteCache",
        "LOCATION": str(config.home() / "cache.sqlite3"),
    }
}

# Without Redis there is no layer at all: events are rows first, and sockets read the rows.
CHANNEL_LAYERS: dict[str, dict[str, Any]] = (
    {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    if REDIS_URL
    else {}
)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [
    folder for folder in [BASE_DIR / "benchloop_site" / "static"] if folder.is_dir()
]
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_ALLOW_ALL_ORIGINS = False

LOGIN_URL = "admin:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

MAIL = _mail(BENCHLOOP_ROLE, HTTPS)
SENDS_MAIL = MAIL != NO_MAIL
EMAIL_BACKEND = MAIL.backend_path
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starttls, MAIL.tls
EMAIL_TIMEOUT = 20
EMAIL_FILE_PATH = MAIL.folder
DEFAULT_FROM_EMAIL = SERVER_EMAIL = (
    os.environ.get("EMAIL_FROM") or f"bench-loop@{ALLOWED_HOSTS[0].lstrip('.')}"
)

SESSION_COOKIE_SAMESITE = "Strict" if BENCHLOOP_ROLE == "local" else "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = SESSION_COOKIE_SAMESITE
CSRF_COOKIE_SECURE = HTTPS
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "submissions.authentication.KeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["submissions.throttles.RateThrottle"],
    "DEFAULT_SCHEMA_CLASS": "benchloop_site.openapi.ApiSchema",
    "NUM_PROXIES": PROXIES,
    "EXCEPTION_HANDLER": "benchloop_site.api_errors.handle",
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "BenchLoop",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "DISABLE_DOCSTRING_DESCRIPTIONS": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "benchloop_site.openapi.tighten_request_bodies",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "benchloop_site.logs.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "benchloop": {"level": "INFO"},
        # Refused requests are the client's affair; what breaks is logged with its traceback.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "WARNING"},
    },
}

if BENCHLOOP_ROLE == "public":
    if importlib.util.find_spec("allauth") is None:
        raise ImproperlyConfigured("The public role needs: pip install 'bench-loop[public]'.")
    from benchloop_site.accounts.settings import *  # noqa: F403
    from benchloop_site.accounts.settings import ACCOUNT_APPS, ACCOUNT_MIDDLEWARE

    INSTALLED_APPS += ACCOUNT_APPS
    MIDDLEWARE += ACCOUNT_MIDDLEWARE
    ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
    ALLAUTH_TRUSTED_PROXY_COUNT = PROXIES
