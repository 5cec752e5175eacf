"""A harness that is a program: found, its needs checked, and where it runs chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_loop.commands._sandbox import warn

if TYPE_CHECKING:
    from bench_loop.commands._setup import Wanted
    from bench_loop.contracts.harness import HarnessAdapter
    from bench_loop.contracts.place import PlaceKind
    from bench_loop.contracts.provider import Address, Provider
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.trials import Outside
    from bench_loop.errors import SetupError
    from bench_loop.programs.installed import Installed


def find_program(
    harness: HarnessAdapter, plan: RunPlan, wanted: Wanted
) -> tuple[Installed, PlaceKind] | None:
    """The program of `harness` and where it will run, before a model is loaded; None: it is none.

    Raises SetupError when it is not installed, SandboxError when there is no place, UsageError when
    it can do none of the tasks.
    """
    if harness.installation is None:
        return None
    from bench_loop.engine.suitability import refuse_unless_able
    from bench_loop.programs.installed import installed

    program = installed(harness.name, harness.installation)
    if program is None:
        raise not_installed(harness.name)
    refuse_unless_able(harness, [suite.pack for suite in plan.quality_suites])
    place = _place(wanted)
    if place == "bubblewrap" and wanted.sandbox_kind == "docker":
        warn(f"Docker holds the code of verdicts; {harness.name} itself runs in bubblewrap.")
    return program, place


def outside_of(
    harness: HarnessAdapter,
    found: tuple[Installed, PlaceKind],
    provider: Provider,
    model_id: str,
    plan: RunPlan,
    wanted: Wanted,
) -> Outside:
    """The program that was `found`, with the server that it reaches and the settings of both.

    Raises SetupError when the server does not meet its needs and that was not overridden;
    ProviderError as it comes.
    """
    from bench_loop.contracts.provider import Addressed
    from bench_loop.engine.harness_limits import RULE
    from bench_loop.engine.trials import Outside
    from bench_loop.errors import SetupError
    from bench_loop.result.records import HarnessSettings

    if not isinstance(provider, Addressed):
        raise SetupError(f"The provider {provider.name} cannot serve a harness.")
    program, place = found
    if provider.address().is_ollama:
        load_as_served(provider.address(), model_id, plan.context_window)
    forced = _forced(harness, provider, model_id, plan, is_forced=wanted.is_forced)
    settings = HarnessSettings(
        place=place, options=dict(wanted.harness_options), limit_rule=RULE, forced=forced
    )
    return Outside(program, provider, settings)


def not_installed(name: str) -> SetupError:
    """The error for a harness whose program is not there."""
    from bench_loop.errors import SetupError

    return SetupError(
        f"The harness {name} is not installed.", remedy=f"bench-loop harness install {name}"
    )


def _forced(
    harness: HarnessAdapter, provider: Provider, model_id: str, plan: RunPlan, *, is_forced: bool
) -> tuple[str, ...]:
    """The needs that the server does not meet and that were overridden."""
    from bench_loop.engine.harness_needs import (
        Served,
        refuse_other_window,
        refuse_unmet,
        takes_tools,
        unmet,
    )

    facts = provider.model(model_id)
    windows = [one for one in (facts.context_loaded, facts.context_declared) if one is not None]
    window = min(windows, default=None)
    does_take = None
    if harness.needs.tool_calls:
        does_take = takes_tools(provider, model_id, window or plan.context_window)
    found = unmet(harness.name, harness.needs, Served(window, does_take, facts.context_declared))
    if not is_forced:
        refuse_unmet(harness, found)
    for one in found:
        warn(f"Overridden: {one.evidence}.")
    if provider.name == "ollama" and window is not None:
        refuse_other_window(window, plan.context_window)
    return tuple(one.need for one in found)


def load_as_served(address: Address, model_id: str, window: int) -> None:
    """Have an Ollama load the model as it does for a program, whose requests name no window."""
    from contextlib import closing

    from bench_loop.contracts.chat import ChatRequest, Message
    from bench_loop.providers import openai_compat

    request = ChatRequest(
        model_id=model_id,
        messages=(Message(role="user", content="Hello."),),
        max_tokens=1,
        context_window=window,
    )
    with closing(openai_compat.connect(address.root, address.api_key)) as other:
        other.chat(request)


def _place(wanted: Wanted) -> PlaceKind:
    """`bubblewrap`, or `direct` where that was chosen and allowed. Raises SandboxError."""
    from bench_loop.errors import SandboxError
    from bench_loop.sandboxes.bubblewrap import find_bwrap

    if wanted.sandbox_kind == "subprocess":
        if wanted.is_unsafe_allowed:
            return "direct"
        raise SandboxError(
            "A harness runs commands that a model wrote, and --sandbox subprocess does not hold "
            "them.",
            remedy="Leave it out, or accept that with --allow-unsafe.",
        )
    find_bwrap()
    return "bubblewrap"
