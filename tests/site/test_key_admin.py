"""Keys in the admin: made for somebody, ended, never read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from submissions.keys import BadKeyError, create_key, find_key
from submissions.models import ApiKey
from tests.site.accounts import KEY

ADD = "/admin/submissions/apikey/add/"
LIST = "/admin/submissions/apikey/"


def form(owner: User, **more: object) -> dict[str, object]:
    return {"owner": owner.pk, "name": "ci", "scopes": ["submit"], **more}


def test_a_new_key_is_shown_once(admin_client: Client, admin_user: User, owner: User) -> None:
    page = admin_client.post(ADD, form(owner))
    found = KEY.search(page.content.decode())
    assert found
    key = find_key(found[0])
    assert (key.owner, key.made_by, key.scopes) == (owner, admin_user, ["submit"])
    assert "no-store" in page["Cache-Control"]
    assert ApiKey.objects.count() == 1


def test_its_text_is_kept_nowhere(admin_client: Client, owner: User) -> None:
    page = admin_client.post(ADD, form(owner))
    found = KEY.search(page.content.decode())
    assert found
    said = [str(message) for message in get_messages(page.wsgi_request)]
    assert found[0] not in f"{admin_client.cookies} {dict(admin_client.session)} {said}"
    detail = f"{LIST}{ApiKey.objects.get().pk}/change/"
    for address in (LIST, detail, "/admin/"):
        shown = admin_client.get(address, follow=True).content.decode()
        assert found[0] not in shown
        assert ApiKey.objects.get().hashed not in shown


def test_a_time_that_has_passed_is_refused(admin_client: Client, owner: User) -> None:
    past = timezone.now() - timedelta(days=1)
    answer = admin_client.post(
        ADD, form(owner, expires_at_0=f"{past:%Y-%m-%d}", expires_at_1="12:00:00")
    )
    assert "This time has passed" in answer.content.decode()
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(("action", "reason"), [("revoke", "revoked"), ("expire", "expired")])
def test_many_keys_are_ended_at_once(
    admin_client: Client, owner: User, action: str, reason: str
) -> None:
    made = [create_key(owner) for _ in range(3)]
    chosen = [str(key.pk) for key, _ in made[:2]]
    admin_client.post(LIST, {"action": action, "_selected_action": chosen})
    for _, text in made[:2]:
        with pytest.raises(BadKeyError, match=reason):
            find_key(text)
    assert find_key(made[2][1])


def test_a_key_is_neither_changed_nor_deleted(admin_client: Client, owner: User) -> None:
    key, _ = create_key(owner)
    assert admin_client.post(f"{LIST}{key.pk}/change/", {"name": "other"}).status_code == 403
    assert admin_client.post(f"{LIST}{key.pk}/delete/", {"post": "yes"}).status_code == 403
    assert ApiKey.objects.get().name == ""


def test_a_moderator_sees_nobodys_keys(moderator_client: Client, owner: User) -> None:
    key, _ = create_key(owner)
    for address in (LIST, ADD, f"{LIST}{key.pk}/change/"):
        assert moderator_client.get(address).status_code == 403
    moderator_client.post(LIST, {"action": "revoke", "_selected_action": [str(key.pk)]})
    key.refresh_from_db()
    assert key.revoked_at is None


def test_who_may_only_look_ends_no_key(
    moderator: User, moderator_client: Client, owner: User
) -> None:
    moderator.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    key, _ = create_key(owner)
    assert key.prefix in moderator_client.get(LIST).content.decode()
    moderator_client.post(LIST, {"action": "revoke", "_selected_action": [str(key.pk)]})
    key.refresh_from_db()
    assert key.revoked_at is None
