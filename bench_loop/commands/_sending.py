"""How `bench-loop submit` sends: what is said meanwhile, kept for later, and remembered."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bench_loop.console import clean, console, program
from bench_loop.errors import BenchLoopError, SubmitError, UsageError
from bench_loop.report import submission
from bench_loop.submit import outbox
from bench_loop.submit.outbox import Pending
from bench_loop.submit.payload import Payload, payload_of, read_source
from bench_loop.submit.sending import TRIES, Answer, Watch, send
from bench_loop.submit.site import checked_address, shown_url, site_token

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_FROM = 256 * 1024
"""Bytes of an upload whose progress is worth a line."""


class ProgressLine(Watch):
    """Tells on standard error how far an upload is, where somebody watches."""

    def __init__(self) -> None:
        self._is_open = False

    def sent(self, count: int, total: int) -> None:
        if total >= SHOWN_FROM and sys.stderr.isatty():
            is_sent = "  waiting for the answer" if count == total else ""
            click.echo(f"\r  {100 * count // total:3d} %{is_sent}", err=True, nl=False)
            self._is_open = True

    def waits(self, why: str, wait_s: float, number: int) -> None:
        self.close()
        click.echo(f"  {clean(why)[:200]}; try {number + 1} of {TRIES} in {wait_s:.0f} s", err=True)

    def close(self) -> None:
        """End the line that is being written over."""
        if self._is_open:
            click.echo(err=True)
            self._is_open = False


def read_payload(name: str, *, is_as_found: bool) -> Payload:
    """What would be sent of the run or file `name`; code is judged where there is a sandbox."""
    from bench_loop.commands._sandbox import opened
    from bench_loop.commands._source import result_file
    from bench_loop.errors import SandboxError
    from bench_loop.privacy import this_person
    from bench_loop.submit.scrub import wants_sandbox

    source, person = read_source(result_file(name)), this_person()
    is_needed = not is_as_found and wants_sandbox(source.result, person)
    try:
        with opened("auto", allow_unsafe=False, user=None, is_needed=is_needed) as sandbox:
            return payload_of(source, person, sandbox, is_as_found=is_as_found)
    except SandboxError:
        return payload_of(source, person, None, is_as_found=is_as_found)


def say_where(address: str, *, has_token: bool) -> None:
    key = "with your API key" if has_token else "without an API key"
    submission.print_rows([("to", f"{address}, {key}")], console(stderr=True))


def was_sent(name: str, address: str, *, as_json: bool) -> bool:
    """Whether the run or file `name` is on that site already; if so, it is said."""
    from bench_loop.commands._source import result_file

    source = read_source(result_file(name))
    sent = outbox.sent_before(address, source.result.fingerprint)
    if sent is None:
        return False
    if as_json:
        click.echo(json.dumps({"id": sent.public_id, "status": sent.status, "url": sent.url}))
    else:
        submission.print_sent_before(sent, console())
    return True


def check_all(
    payloads: Sequence[Payload], address: str, token: str | None, *, as_json: bool
) -> int:
    """Have the site check them and store nothing; the exit code is that of the same upload."""
    bodies = []
    for payload in payloads:
        try:
            answer = _sent(payload.data, address, token, is_dry_run=True)
        except SubmitError as error:
            submission.print_fields(error.fields, console(stderr=True))
            raise
        bodies.append(answer.body)
        if not as_json:
            submission.print_checks(answer.body, console())
    if as_json:
        _print_json(bodies)
    is_refused = any(body.get("would_be_accepted") is False for body in bodies)
    return SubmitError.exit_code if is_refused else 0


def send_all(payloads: Sequence[Payload], address: str, token: str | None, *, as_json: bool) -> int:
    """Send them one after another; what goes wrong with one does not hold up the others."""
    held = [_pending(payload, address) for payload in payloads]
    for pending in held:
        outbox.hold(pending)
    if len(held) == 1:
        answer = _deliver(held[0], token)
        if as_json:
            _print_json([answer.body])
        else:
            _tell(held[0], answer)
        return 0
    return _send_each(held, as_json=as_json)


def send_waiting(site: str | None, *, is_yes: bool, as_json: bool) -> int:
    """List all that waits, and send it after a yes; with `site` only what is for that site."""
    found = _listed(site)
    if found and not _is_wanted(found, "Send", is_yes=is_yes):
        click.echo("Nothing was sent.", err=True)
        return 1
    return _send_each(found, as_json=as_json)


def forget_waiting(site: str | None, *, is_yes: bool) -> int:
    """List all that waits, and take it off the list after a yes; result files stay."""
    found = _listed(site)
    if found and not _is_wanted(found, "Forget", is_yes=is_yes):
        return 1
    for pending in found:
        outbox.drop(pending)
    return 0


def _listed(site: str | None) -> list[Pending]:
    chosen = checked_address(site).rstrip("/") if site else None
    found = [one for one in outbox.waiting() if chosen in (None, one.site)]
    if not found:
        click.echo("Nothing waits to be sent.", err=True)
    submission.print_waiting(found, console(stderr=True))
    return found


def _is_wanted(found: Sequence[Pending], verb: str, *, is_yes: bool) -> bool:
    """Whether the user says yes. Raises UsageError where nobody can be asked."""
    if is_yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody can be asked here, since the input is no terminal.", remedy="Add --yes."
        )
    what = "it" if len(found) == 1 else f"these {len(found)}"
    return click.confirm(f"{verb} {what}?", default=False, err=True)


def _send_each(held: Sequence[Pending], *, as_json: bool) -> int:
    """Send each; the exit code is that of the last that failed."""
    code, bodies = 0, []
    for pending in held:
        try:
            answer = _deliver(pending, site_token(pending.site))
        except BenchLoopError as error:
            code = error.exit_code
            bodies.append({"run_id": pending.run_id, "error": error.message})
            click.echo(f"{clean(pending.run_id)}: {clean(error.message)}", err=True)
            if error.remedy:
                click.echo(f"  Try: {clean(error.remedy)}", err=True)
            continue
        bodies.append({"run_id": pending.run_id, **answer.body})
        if not as_json:
            click.echo(f"{clean(pending.run_id)}: ", nl=False)
            _tell(pending, answer)
    if as_json:
        _print_json(bodies)
    return code


def _deliver(pending: Pending, token: str | None) -> Answer:
    """Send what is held; it is held on where that may help, and dropped where the site refused it.

    Raises SubmitError, UsageError.
    """
    screen = console(stderr=True)
    try:
        answer = _sent(pending.data, pending.site, token, is_dry_run=False)
    except SubmitError as error:
        submission.print_fields(error.fields, screen)
        if error.can_wait:
            outbox.hold_on(pending, error.message)
            _say_waits(screen)
        else:
            outbox.drop(pending)
        raise
    except KeyboardInterrupt:
        _say_waits(screen)
        raise
    outbox.remember(pending, answer)
    return answer


def _say_waits(screen: Console) -> None:
    submission.say(f"It waits here; send it later with: {program()} submit --pending", screen)


def _sent(data: bytes, address: str, token: str | None, *, is_dry_run: bool) -> Answer:
    line = ProgressLine()
    if sys.stderr.isatty():
        click.echo(f"Sending {len(data):,} bytes to {clean(address)}", err=True)
    try:
        return send(data, address, token, is_dry_run=is_dry_run, watch=line)
    finally:
        line.close()


def _pending(payload: Payload, address: str) -> Pending:
    subject = payload.result.subject
    return Pending(
        site=address,
        run_id=payload.result.run_id,
        title=" ".join(filter(None, (subject.model_id, subject.quantization))),
        fingerprint=payload.source.result.fingerprint,
        since=outbox.now(),
        payload=payload.data.decode(),
    )


def _tell(pending: Pending, answer: Answer) -> None:
    """What the site made of it."""
    body = answer.body
    begin = "The site had this run already" if answer.is_duplicate else "Submitted"
    status, level = (clean(str(body.get(key, "unknown")))[:50] for key in ("status", "level"))
    click.echo(f"{begin}: {status}, level {level}.")
    url = shown_url(pending.site, body.get("url"))
    if url:
        click.echo(url)
        if body.get("status") == "pending":
            click.echo(
                "You see it there when you are logged in, all others once a moderator approves."
            )


def _print_json(bodies: Sequence[dict[str, Any]]) -> None:
    """The site's answer; of several a list."""
    click.echo(json.dumps(bodies[0] if len(bodies) == 1 else list(bodies), indent=1))
