"""Maintainers change the names of models in the admin; others only look, or see nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from leaderboard.models import LanguageModel, ModelAlias, NameChange
from tests.site.published import show_run

MODELS = "/admin/leaderboard/languagemodel/"
ALIASES = "/admin/leaderboard/modelalias/"
CHANGES = "/admin/leaderboard/namechange/"


def staff(name: str, *permissions: str) -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def maintainer_client(public_site: None) -> Client:
    return staff("maintainer", "change_modelalias")


@pytest.fixture
def two_models(public_site: None) -> list[LanguageModel]:
    show_run(60.0)
    show_run(70.0, number=1, model_id="<b>gemma</b>")
    return list(LanguageModel.objects.order_by("pk"))


def act(client: Client, address: str, action: str, chosen: list[Any], **given: Any) -> str:
    data = {"action": action, "_selected_action": [one.pk for one in chosen], **given}
    response = client.post(address, data, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_two_models_are_merged_with_a_reason(
    maintainer_client: Client, two_models: list[LanguageModel]
) -> None:
    kept, other = two_models
    page = act(maintainer_client, MODELS, "merge", two_models)
    assert 'name="reason"' in page
    assert "<b>gemma" not in page
    act(maintainer_client, MODELS, "merge", two_models, into=kept.pk, reason="The same weights.")
    other.refresh_from_db()
    assert other.merged_into == kept
    assert NameChange.objects.get().actor.username == "maintainer"
    assert "The same weights." in maintainer_client.get(CHANGES).content.decode()


def test_without_a_reason_nothing_is_merged(
    maintainer_client: Client, two_models: list[LanguageModel]
) -> None:
    page = act(maintainer_client, MODELS, "merge", two_models, into=two_models[0].pk, reason=" ")
    assert "This field is required" in page
    assert not NameChange.objects.exists()


def test_a_model_is_renamed_and_the_change_undone(
    maintainer_client: Client, two_models: list[LanguageModel]
) -> None:
    model = two_models[0]
    act(maintainer_client, MODELS, "rename", [model], name="Qwen3 8B", slug="", reason="spelling")
    model.refresh_from_db()
    assert model.name == "Qwen3 8B"
    act(maintainer_client, CHANGES, "undo", [NameChange.objects.get()], reason="a mistake")
    model.refresh_from_db()
    assert model.name == "qwen3-8b"


def test_an_id_is_split_off(maintainer_client: Client, two_models: list[LanguageModel]) -> None:
    show_run(80.0, number=2, model_id="qwen/qwen3-8b")
    alias = ModelAlias.objects.get(name="qwen/qwen3-8b")
    act(maintainer_client, ALIASES, "split", [alias], name="Other", reason="other weights")
    alias.refresh_from_db()
    assert alias.model.name == "Other"


def test_what_is_not_possible_is_said_on_the_page(
    maintainer_client: Client, two_models: list[LanguageModel]
) -> None:
    taken = two_models[1].name
    page = act(
        maintainer_client, MODELS, "rename", two_models[:1], name=taken, slug="", reason="why not"
    )
    assert "merge them if they are the same" in page
    assert "Choose one." in act(maintainer_client, MODELS, "rename", two_models)


def test_who_may_only_look_has_no_actions(two_models: list[LanguageModel]) -> None:
    client = staff("reader", "view_languagemodel")
    page = client.get(MODELS).content.decode()
    assert "qwen3-8b" in page
    assert "Merge into one" not in page
    act(client, MODELS, "merge", two_models, into=two_models[0].pk, reason="no right to")
    assert not NameChange.objects.exists()


@pytest.mark.parametrize("address", [MODELS, ALIASES, CHANGES])
def test_a_moderator_without_the_right_sees_no_names(public_site: None, address: str) -> None:
    assert staff("moderator", "moderate_submission").get(address).status_code == 403


def test_names_are_never_edited_in_place(
    maintainer_client: Client, two_models: list[LanguageModel]
) -> None:
    model = two_models[0]
    for page in ("change/", "delete/"):
        address = f"{MODELS}{model.pk}/{page}"
        maintainer_client.post(address, {"name": "x", "post": "yes"})
    assert LanguageModel.objects.get(pk=model.pk).name == "qwen3-8b"
    assert maintainer_client.get(f"{MODELS}{model.pk}/change/").status_code == 200
