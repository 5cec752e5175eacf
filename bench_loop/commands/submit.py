"""`bench-loop submit`: send results to a BenchLoop site, after a clear yes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.submit.payload import Payload

NOTHING_SENT = 1
"""Exit code after a no."""

EPILOG = """
\b
Examples:
  bench-loop submit latest --site https://bench.example.org --dry-run
  bench-loop submit results/latest.json --print-payload | less
  bench-loop submit latest --site https://bench.example.org --yes
  bench-loop submit --pending

Exit codes: 0 all accepted or sent before, 1 you said no, 2 wrong arguments, 4 the file is
wrong or incomplete, or would be judged otherwise without its private text, 6 refused by the
site or not reached.
"""


@click.command(epilog=EPILOG)
@click.argument("files", metavar="[FILE|RUN|latest]...", nargs=-1)
@click.option(
    "--site", metavar="URL", help="Where to send it; else BENCHLOOP_SITE, or address under [site]."
)
@click.option("--dry-run", is_flag=True, help="Let the site check it and store nothing.")
@click.option(
    "--print-payload", is_flag=True, help="Print the exact bytes that would be sent; send nothing."
)
@click.option("--pending", is_flag=True, help="List what waits to be sent, and send it.")
@click.option("--forget", is_flag=True, help="With --pending: send nothing, empty the list.")
@click.option("--again", is_flag=True, help="Send what was sent before once more.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal.")
@click.option("--allow-private", is_flag=True, help="Send private text too: the file as it is.")
@click.option("--json", "as_json", is_flag=True, help="Print the site's answer as JSON.")
def command(
    files: tuple[str, ...],
    site: str | None,
    dry_run: bool,
    print_payload: bool,
    pending: bool,
    forget: bool,
    again: bool,
    yes: bool,
    allow_private: bool,
    as_json: bool,
) -> int:
    """Send results to a BenchLoop site: files, runs by their ids, or the newest.

    Home folders, names of user and machine, addresses, serial numbers and keys are taken out of a
    copy, which is sent in the place of the file if no verdict changes by it. Nothing else is sent
    but your API key (BENCHLOOP_TOKEN, or token under [site] in config.toml). Nothing is sent before
    you say yes; a pipe is not a yes. What could not be sent waits: --pending.
    """
    from bench_loop.commands import _sending
    from bench_loop.errors import UsageError
    from bench_loop.submit.site import site_address, site_token

    is_other = dry_run or print_payload or again or allow_private
    _refuse_together(files, is_pending=pending, is_other=is_other)
    if forget and not pending:
        raise UsageError("--forget goes with --pending.")
    if forget:
        return _sending.forget_waiting(site, is_yes=yes)
    if pending:
        return _sending.send_waiting(site, is_yes=yes, as_json=as_json)
    if print_payload:
        return _print_bytes(files, is_as_found=allow_private)
    address = site_address(site)
    token = site_token(address)
    payloads = []
    for name in files:
        if dry_run or again or not _sending.was_sent(name, address, as_json=as_json):
            payloads.append(_shown(name, is_as_found=allow_private))
    if not payloads:
        return 0
    _sending.say_where(address, has_token=token is not None)
    if not _has_consent(payloads, is_yes=yes):
        click.echo("Nothing was sent.", err=True)
        return NOTHING_SENT
    if dry_run:
        return _sending.check_all(payloads, address, token, as_json=as_json)
    return _sending.send_all(payloads, address, token, as_json=as_json)


def _refuse_together(files: Sequence[str], *, is_pending: bool, is_other: bool) -> None:
    """Raises UsageError for what cannot be asked for at once."""
    from bench_loop.errors import UsageError

    if is_pending and (files or is_other):
        raise UsageError(
            "--pending is for all that waits; it takes no files, and no option but --site, --yes,"
            " --forget and --json."
        )
    if not files and not is_pending:
        raise UsageError(
            "Say what to submit.", remedy="bench-loop submit latest, or a file, or a run's id"
        )


def _print_bytes(files: Sequence[str], *, is_as_found: bool) -> int:
    """The payload and nothing else on standard output; what was taken out beside it."""
    from bench_loop.commands._sending import read_payload
    from bench_loop.console import console
    from bench_loop.errors import UsageError
    from bench_loop.report.submission import print_private

    if len(files) != 1:
        raise UsageError("--print-payload prints one file.")
    payload = read_payload(files[0], is_as_found=is_as_found)
    print_private(payload, console(stderr=True))
    _refuse_obstacles(payload)
    sys.stdout.buffer.write(payload.data)
    return 0


def _shown(name: str, *, is_as_found: bool) -> Payload:
    """What would be sent of a file, when it was shown. Raises ResultError where it may not be."""
    from bench_loop.commands._sending import read_payload
    from bench_loop.console import console
    from bench_loop.report.submission import print_payload

    payload = read_payload(name, is_as_found=is_as_found)
    click.echo("This would leave your machine:", err=True)
    print_payload(payload, console(stderr=True))
    click.echo(err=True)
    _refuse_obstacles(payload)
    return payload


def _refuse_obstacles(payload: Payload) -> None:
    """Raises ResultError where the site would judge the copy otherwise, or might."""
    from bench_loop.errors import ResultError

    if not payload.obstacles:
        return
    first = payload.obstacles[0]
    if first.before is None:
        reason = (
            "without the private text this trial cannot be judged again here (no sandbox for its"
            " code, or another pack)"
        )
    else:
        reason = f"without the private text it would be {first.after}, not {first.before}"
    raise ResultError(
        str(payload.source.path),
        first.field,
        reason,
        remedy="Look at what is listed above; --allow-private sends the file as it is.",
    )


def _has_consent(payloads: Sequence[Payload], *, is_yes: bool) -> bool:
    """Whether the user wants it sent. Raises where nobody can be asked."""
    from bench_loop.errors import ResultError, UsageError

    doubtful = [one for one in payloads if one.findings]
    for one in doubtful:
        if is_yes and not one.is_as_found:
            raise ResultError(
                str(one.source.path),
                one.findings[0].field,
                f"holds what looks like a {one.findings[0].kind} and cannot be taken out",
                remedy="Look at what is listed above; add --allow-private to send it all the same.",
            )
    if is_yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody can be asked here, since the input is no terminal.",
            remedy="Add --yes if the result may leave this machine.",
        )
    what = "it" if len(payloads) == 1 else f"these {len(payloads)}"
    question = f"Send {what} all the same?" if doubtful else f"Send {what}?"
    return click.confirm(question, default=False, err=True)
