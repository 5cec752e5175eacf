"""Standard runs and custom ones: what a result says of its harness, against what is pinned."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.config import bundled
from bench_loop.programs.known import Known, all_harnesses, pinned
from bench_loop.registry import load
from bench_loop.result.pinned import Pinned, custom_reasons
from bench_loop.result.records import HarnessSettings, RunResult
from tests.result.documents import result

HARNESSES = bundled("harnesses")
OUR_HASH, OTHER_HASH = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
PINNED = {"parrot": Pinned("2.1", OUR_HASH, {"path": "ask", "format": "diff"})}
SETTINGS = HarnessSettings(place="bubblewrap", limit_rule="as raw")


def run(settings: HarnessSettings | None = SETTINGS, **changes: Any) -> RunResult:
    """A run through parrot as it is pinned, with `changes` in its subject."""
    plain = result()
    subject = {"harness": "parrot", "harness_version": "2.1", "harness_config_hash": OUR_HASH}
    return plain.model_copy(
        update={
            "subject": plain.subject.model_copy(update={**subject, **changes}),
            "settings": plain.settings.model_copy(update={"harness": settings}),
        }
    )


def with_settings(**changes: Any) -> RunResult:
    return run(SETTINGS.model_copy(update=changes))


def test_the_pinned_configuration_is_standard() -> None:
    assert custom_reasons(run(), PINNED) == ()


def test_an_option_that_is_named_and_has_its_default_is_standard() -> None:
    assert custom_reasons(with_settings(options={"path": "ask"}), PINNED) == ()


def test_raw_is_our_own_loop_and_has_no_other_configuration() -> None:
    assert custom_reasons(run(None, harness="raw", harness_config_hash=None), PINNED) == ()


@pytest.mark.parametrize(
    ("custom", "reasons"),
    [
        (
            with_settings(forced=("context_window", "tool_calls")),
            ("needs were overridden (context window, tool calls)",),
        ),
        (
            run(
                SETTINGS.model_copy(update={"options": {"path": "tell"}}), harness_config_hash=None
            ),
            ("the option path is tell (pinned: ask)",),
        ),
        (
            with_settings(options={"mood": "loud"}),
            ("the option mood is loud (pinned: no such option)",),
        ),
        (
            run(harness_version="2.0", harness_config_hash=OTHER_HASH),
            ("the version is 2.0 (pinned: 2.1)",),
        ),
        (run(harness_version=None), ("the version is not known (pinned: 2.1)",)),
        (run(harness_config_hash=OTHER_HASH), ("the configuration is not the pinned one",)),
        (run(harness_config_hash=None), ("the configuration is not the pinned one",)),
        (run(harness="macaw"), ("no harness of this name is pinned here",)),
        (run(None), ("how the harness was run is not told",)),
        (
            run(
                SETTINGS.model_copy(update={"forced": ("tool_calls",), "options": {"path": "x"}}),
                harness_version="9",
            ),
            (
                "needs were overridden (tool calls)",
                "the option path is x (pinned: ask)",
                "the version is 9 (pinned: 2.1)",
            ),
        ),
    ],
)
def test_all_that_is_otherwise_is_custom_for_a_reason(
    custom: RunResult, reasons: tuple[str, ...]
) -> None:
    assert custom_reasons(custom, PINNED) == reasons


def test_what_a_result_says_of_its_options_is_repeated_in_part() -> None:
    (reason,) = custom_reasons(with_settings(options={"n" * 500: "v" * 500}), PINNED)
    assert len(reason) < 130


def test_every_harness_is_pinned_with_its_defaults_as_its_configuration() -> None:
    here = pinned()
    assert set(here) == {known.adapter.name for known in all_harnesses()}
    for known in all_harnesses():
        name, found = known.adapter.name, here[known.adapter.name]
        assert (found.config_hash is None) == (known.adapter.installation is None)
        module = load("harness", HARNESSES, name)
        if found.options:
            assert module.Adapter(**found.options).config_hash == found.config_hash


@pytest.mark.parametrize("known", all_harnesses(), ids=lambda known: known.adapter.name)
def test_another_value_of_an_option_is_another_configuration(known: Known) -> None:
    name = known.adapter.name
    module = load("harness", HARNESSES, name)
    for option, (_, *others) in known.options.items():
        for value in others:
            other = module.Adapter(**{option: value})
            assert other.config_hash != pinned()[name].config_hash
