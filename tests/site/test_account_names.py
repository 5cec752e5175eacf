"""Names that people may have: nobody is taken for somebody else, or for the site."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from benchloop_site.accounts.names import check_name, lookalikes
from tests.site.accounts import person, sign_up

NAMES = st.from_regex(r"[a-z0-9]([-_]?[a-z0-9]){2,12}", fullmatch=True)


@pytest.mark.parametrize("name", ["ada", "ada-l", "ada_lovelace_1815", "42cats", "x" * 30])
def test_plain_names_are_good(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "ab", "x" * 31, "-ada", "ada-", "a--b", "a.b.c", "ada@x.example", "a b c", "Ada"),
        *("аda", "ada\u200b", "ada\u202e", "ａda", "ada\n", "ada\x00", "../ada", "<b>ada", "ädä"),
    ],
)
def test_names_of_another_form_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="3 to 30"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("admin", "adm1n", "a-d-m-i-n", "administrator", "anonymous", "an0nymous", "local"),
        *("benchloop", "bench-loop", "benchl00p-team", "moderator7", "rnoderator", "deleted-1234"),
        *("support", "supp0rt", "api"),
    ],
)
def test_names_of_the_site_itself_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="kept for the site"):
        check_name(name)


@given(NAMES)
def test_a_name_looks_like_itself(name: str) -> None:
    assert re.fullmatch(lookalikes(name), name)


@given(NAMES, NAMES)
def test_looking_alike_holds_both_ways(one: str, other: str) -> None:
    assert bool(re.fullmatch(lookalikes(one), other)) == bool(re.fullmatch(lookalikes(other), one))


@pytest.mark.parametrize("name", ["0laf", "o-laf", "o1af", "OLAF", "oIaf"])
def test_nobody_signs_up_as_a_double(public_site: None, client: Client, name: str) -> None:
    person("olaf")
    assert sign_up(client, name, "other@x.example").status_code == 200
    assert User.objects.count() == 1


def test_names_are_kept_in_small_letters(public_site: None, client: Client) -> None:
    sign_up(client, "Ada")
    assert User.objects.get().username == "ada"


@pytest.mark.parametrize("name", ["аda", "Kelvin\u212a", "ada\u200b"])
def test_letters_of_other_alphabets_are_refused(
    public_site: None, client: Client, name: str
) -> None:
    answer = sign_up(client, name, "other@x.example")
    assert "letters a to z" in answer.content.decode()
    assert not User.objects.exists()
