"""The page of one's own API keys."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from bench_loop.report import figures
from bench_loop.report import views as report
from benchloop_site.accounts.access import guarded_page, own_page, owner_of
from benchloop_site.accounts.forms import KeyForm
from submissions.keys import create_key
from submissions.models.keys import SCOPES, ApiKey


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as its owner sees it: all but the key itself. `made_by` is empty: by its owner."""

    prefix: str
    name: str
    scopes: str
    created: str
    last_used: str
    expires: str
    state: str
    made_by: str


@guarded_page
@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """List them; POST makes one, and its answer is the only place where its text ever stands."""
    owner = owner_of(request)
    form = KeyForm(owner, request.POST if request.method == "POST" else None)
    if form.is_valid():
        key, text = create_key(
            owner, form.cleaned_data["name"], form.cleaned_data["scopes"], form.expires_at()
        )
        context = {"key": row(key), "text": text, "site": request.build_absolute_uri("/")[:-1]}
        return render(request, "account/key_made.html", context)
    known = [row(key) for key in owner.api_keys.select_related("made_by")]
    context = {
        "keys": [key for key in known if key.state == "active"],
        "past": [key for key in known if key.state != "active"],
        "form": form,
        "scopes": SCOPES,
    }
    return render(request, "account/keys.html", context, status=400 if form.errors else 200)


@own_page
@require_POST
def revoke(request: HttpRequest, prefix: str) -> HttpResponse:
    """End a key of one's own. It needs no password: who finds a key stolen is in a hurry."""
    key = owner_of(request).api_keys.filter(prefix=prefix).first()
    if key is None:
        raise Http404
    key.revoke()
    messages.success(request, f"The key {key.prefix} is revoked: it is refused from now on.")
    return HttpResponseRedirect(reverse("account-keys"))


def row(key: ApiKey) -> KeyRow:
    made_by = key.made_by
    return KeyRow(
        prefix=key.prefix,
        name=report.one_line(key.name, 60) or "(no name)",
        scopes=", ".join(scope for scope in SCOPES if key.allows(scope)),
        created=figures.moment(key.created_at),
        last_used=figures.moment(key.last_used_at) if key.last_used_at else "never",
        expires=figures.moment(key.expires_at) if key.expires_at else "never",
        state=key.state(timezone.now()),
        made_by=made_by.username if made_by else "",
    )
