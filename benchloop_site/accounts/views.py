"""One's own runs, and the end of an account."""

from __future__ import annotations

from django.contrib.auth import logout
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from benchloop_site.accounts.access import guarded_page, own_page, owner_of
from benchloop_site.accounts.closing import close_account
from benchloop_site.accounts.forms import CloseForm
from benchloop_site.accounts.runs import own_run

RUNS_PER_PAGE = 50


@own_page
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """How do my runs stand, and what is mine to do?"""
    owner = owner_of(request)
    mine = (
        owner.submissions.select_related("run", "duplicate_of__run")
        .defer("run__result_bytes", "duplicate_of__run__result_bytes")
        .order_by("-created_at", "-pk")
    )
    page = Paginator(mine, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "runs": [own_run(submission) for submission in page],
        "page": page,
        "address": request.build_absolute_uri("/")[:-1],
    }
    return render(request, "account/account.html", context)


@guarded_page
@require_http_methods(["GET", "HEAD", "POST"])
def close(request: HttpRequest) -> HttpResponse:
    """Close the account, once its owner has said what becomes of the runs."""
    owner = owner_of(request)
    form = CloseForm(owner, request.POST if request.method == "POST" else None)
    if not owner.is_staff and form.is_valid():
        close_account(owner, is_withdrawing=form.cleaned_data["runs"] == CloseForm.WITHDRAW)
        logout(request)
        return HttpResponseRedirect(reverse("account-closed"))
    context = {"form": form, "count": owner.submissions.count()}
    return render(request, "account/close.html", context, status=400 if form.errors else 200)


@never_cache
@require_safe
def closed(request: HttpRequest) -> HttpResponse:
    return render(request, "account/closed.html")


@never_cache
@require_safe
def no_address(request: HttpRequest) -> HttpResponse:
    """For who was given an account without an address, which nothing could confirm."""
    return render(request, "account/no_address.html")
