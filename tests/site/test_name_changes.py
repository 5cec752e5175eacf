"""Models' names as people decide them: merge, split, rename, undo; what follows, what stays."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User

from leaderboard.models import Entry, LanguageModel, ModelAlias, NameChange, Stack
from leaderboard.name_changes import merge, rename, split, undo
from leaderboard.name_history import NamesError
from leaderboard.names import model_at
from leaderboard.publish import withdraw
from tests.site.published import show_run

HOSTILE = "<script>alert(1)</script> \u202e=cmd|' /C calc'!A0"


@pytest.fixture
def maintainer(db: None) -> User:
    user = User.objects.create_user("maintainer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="change_modelalias"))
    return user


def named(name: str) -> LanguageModel:
    return LanguageModel.objects.get(name=name)


def alias(name: str) -> ModelAlias:
    return ModelAlias.objects.get(name=name)


def rows() -> dict[str, tuple[int, float | None]]:
    """Of each row of the board its name, number of runs and shown score."""
    return {
        entry.stack.model.name: (entry.stack.run_count, entry.overall_score)
        for entry in Entry.objects.rows()
        if entry.stack
    }


def test_a_merge_makes_one_row_and_recomputes_bands(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen3-8b-mine")
    show_run(90.0, number=2, model_id="gemma3:4b")
    assert rows()["qwen3-8b-mine"] == (1, 70.0)
    merge(named("qwen3-8b"), [named("qwen3-8b-mine")], maintainer, "The same weights.")
    assert rows() == {"qwen3-8b": (2, 60.0), "gemma-3-4b": (1, 90.0)}
    bands = Entry.objects.rows().order_by("overall_score").values_list("band_low", "band_high")
    assert list(bands) == [(2, 2), (1, 1)]
    assert Stack.objects.count() == 2


def test_a_merge_is_recorded_with_who_when_why_before_and_after(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen3-8b-mine")
    kept, other = named("qwen3-8b"), named("qwen3-8b-mine")
    merge(kept, [other], maintainer, " The same weights. ")
    change = NameChange.objects.get()
    assert (change.kind, change.actor, change.reason) == ("merge", maintainer, "The same weights.")
    assert change.before["models"][str(other.pk)]["merged_into"] is None
    assert change.after["models"][str(other.pk)]["merged_into"] == kept.pk
    assert list(change.before["aliases"].values()) == [other.pk]
    assert list(change.after["aliases"].values()) == [kept.pk]
    assert str(change) == "qwen3-8b-mine merged into qwen3-8b"


def test_old_slugs_lead_to_the_model_that_stands_for_theirs(maintainer: User) -> None:
    for number, model_id in enumerate(("qwen3:8b", "qwen3-8b-mine", "qwen3-8b-yours")):
        show_run(60.0, number=number, model_id=model_id)
    merge(named("qwen3-8b-mine"), [named("qwen3-8b-yours")], maintainer, "same")
    merge(named("qwen3-8b"), [named("qwen3-8b-mine")], maintainer, "same")
    rename(named("qwen3-8b"), "Qwen3 8B", maintainer, "its maker's spelling", slug="qwen3-8b-2025")
    for slug in ("qwen3-8b", "qwen3-8b-mine", "qwen3-8b-yours", "qwen3-8b-2025"):
        assert model_at(slug) == named("Qwen3 8B")
    assert model_at("qwen3") is None


def test_ids_that_come_later_go_to_the_merged_model(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen3-8b-mine")
    merge(named("qwen3-8b"), [named("qwen3-8b-mine")], maintainer, "same")
    show_run(80.0, number=2, model_id="someone/Qwen3-8B-mine-GGUF:Q4_K_M")
    assert rows() == {"qwen3-8b": (3, 70.0)}


def test_an_id_is_split_off_into_a_row_of_its_own(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen/qwen3-8b")
    assert rows() == {"qwen3-8b": (2, 60.0)}
    split([alias("qwen/qwen3-8b")], maintainer, "Other weights.", "Qwen3 8B (2026)")
    assert rows() == {"qwen3-8b": (1, 60.0), "Qwen3 8B (2026)": (1, 70.0)}
    show_run(80.0, number=2, model_id="qwen/qwen3-8b")
    assert rows()["Qwen3 8B (2026)"] == (2, 70.0)


def test_a_merged_model_comes_back_with_its_slug(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen3-8b-mine")
    before = named("qwen3-8b-mine")
    merge(named("qwen3-8b"), [before], maintainer, "same")
    assert split([alias("qwen3-8b-mine")], maintainer, "They differ after all.") == before
    assert model_at("qwen3-8b-mine") == before
    assert rows() == {"qwen3-8b": (1, 60.0), "qwen3-8b-mine": (1, 70.0)}


def test_a_model_keeps_at_least_one_id(maintainer: User) -> None:
    show_run(60.0)
    with pytest.raises(NamesError, match="nothing would be left"):
        split([alias("qwen3:8b")], maintainer, "no")


def test_every_change_is_undone_by_the_state_before_it(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="qwen/qwen3-8b")
    show_run(80.0, number=2, model_id="gemma3:4b")
    start = rows()
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "wrong")
    split([alias("qwen/qwen3-8b")], maintainer, "wrong", "Other")
    rename(named("Other"), "Another", maintainer, "wrong")
    for change in NameChange.objects.order_by("-pk"):
        undo(change, maintainer, "a mistake")
    assert rows() == start
    assert NameChange.objects.count() == 6
    assert model_at("gemma-3-4b") == named("gemma-3-4b")


def test_an_undo_can_be_undone(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "same")
    merged = rows()
    undo(NameChange.objects.get(kind="merge"), maintainer, "a mistake")
    undo(NameChange.objects.get(kind="undo"), maintainer, "none after all")
    assert rows() == merged


def test_ids_that_came_since_a_merge_leave_with_their_model(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "same")
    show_run(90.0, number=2, model_id="google/gemma-3-4b-it")
    undo(NameChange.objects.get(), maintainer, "a mistake")
    assert rows() == {"qwen3-8b": (1, 60.0), "gemma-3-4b": (2, 70.0)}


def test_a_change_is_not_undone_over_a_later_one(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "same")
    first = NameChange.objects.get()
    rename(named("qwen3-8b"), "Qwen3 8B", maintainer, "spelling")
    with pytest.raises(NamesError, match="undo that first"):
        undo(first, maintainer, "a mistake")
    undo(NameChange.objects.get(kind="rename"), maintainer, "a mistake")
    undo(first, maintainer, "a mistake")
    with pytest.raises(NamesError, match="undone already"):
        undo(first, maintainer, "again")


def test_withdrawn_runs_move_with_their_name(maintainer: User) -> None:
    show_run(60.0)
    withdraw(show_run(70.0, number=1, model_id="gemma3:4b").run, "mistake")
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "same")
    stack = Stack.objects.get()
    assert (stack.run_count, stack.withdrawn_count) == (1, 1)


def test_no_uploads_bytes_change(maintainer: User) -> None:
    runs = [show_run(60.0).run, show_run(70.0, number=1, model_id="gemma3:4b").run]
    before = [(run.data(), run.header, run.fingerprint) for run in runs]
    merge(named("qwen3-8b"), [named("gemma-3-4b")], maintainer, "same")
    rename(named("qwen3-8b"), "Qwen", maintainer, "short")
    for run in runs:
        run.refresh_from_db()
    assert [(run.data(), run.header, run.fingerprint) for run in runs] == before


def test_a_stranger_and_an_empty_reason_change_nothing(maintainer: User, stranger: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    models = [named("qwen3-8b"), named("gemma-3-4b")]
    with pytest.raises(NamesError, match="maintainer"):
        merge(models[0], models[1:], stranger, "same")
    with pytest.raises(NamesError, match="reason"):
        merge(models[0], models[1:], maintainer, "  ")
    assert not NameChange.objects.exists()
    assert len(rows()) == 2


@pytest.mark.parametrize("name", ["", "   ", "x" * 256, "a\x00b", "a\u202eb"])
def test_a_name_that_cannot_be_read_is_refused(maintainer: User, name: str) -> None:
    show_run(60.0)
    with pytest.raises(NamesError, match="visible"):
        rename(named("qwen3-8b"), name, maintainer, "why not")


@pytest.mark.parametrize("slug", ["Qwen", "a/b", "..", "-a", "a" * 81, "gemma-3-4b"])
def test_an_address_that_is_none_or_anothers_is_refused(maintainer: User, slug: str) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    with pytest.raises(NamesError, match="address"):
        rename(named("qwen3-8b"), "Qwen", maintainer, "why not", slug=slug)


def test_two_models_never_have_one_name(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    with pytest.raises(NamesError, match="merge them"):
        rename(named("qwen3-8b"), "Gemma-3-4B", maintainer, "why not")


@pytest.mark.parametrize("model_id", [HOSTILE, "a|b c", "模型", "../../etc/passwd", "'; DROP"])
def test_hostile_ids_have_harmless_addresses(db: None, model_id: str) -> None:
    show_run(60.0, model_id=model_id)
    slug = LanguageModel.objects.get().slug
    assert slug.isascii()
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    assert model_at(slug) == LanguageModel.objects.get()


def test_names_with_the_same_letters_have_addresses_of_their_own(db: None) -> None:
    show_run(60.0, model_id="my model")
    show_run(70.0, number=1, model_id="my/model")
    slugs = set(LanguageModel.objects.values_list("slug", flat=True))
    assert len(slugs) == 2
    assert "my-model" in slugs
