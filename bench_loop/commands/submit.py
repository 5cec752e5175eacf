"""`bench-loop submit`: send one result to a BenchLoop site, after a clear yes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_loop.commands._source import result_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_loop.privacy import PrivateFinding
    from bench_loop.result.records import RunResult
    from bench_loop.submit import Answer

NOTHING_SENT = 1
"""Exit code after a no."""

MOST_FINDINGS = 100
"""Findings of a site that are printed."""

EPILOG = """
\b
Examples:
  bench-loop submit latest --site https://bench.example.org --dry-run
  bench-loop submit results/latest.json --print-payload | less
  bench-loop submit latest --site https://bench.example.org --yes

Exit codes: 0 accepted, 1 you said no, 2 wrong arguments, 4 the file is wrong, incomplete
or holds private text, 6 refused by the site or not reached.
"""


@click.command(epilog=EPILOG)
@click.argument("file", metavar="FILE|RUN|latest")
@click.option("--site", metavar="URL", help="Where to send it; else BENCHLOOP_SITE.")
@click.option("--dry-run", is_flag=True, help="Let the site check it and store nothing.")
@click.option(
    "--print-payload", is_flag=True, help="Print the exact bytes that would be sent; send nothing."
)
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal.")
@click.option(
    "--allow-private", is_flag=True, help="With --yes: send what looks like private text too."
)
@click.option("--json", "as_json", is_flag=True, help="Print the site's answer as JSON.")
def command(
    file: str,
    site: str | None,
    dry_run: bool,
    print_payload: bool,
    yes: bool,
    allow_private: bool,
    as_json: bool,
) -> int:
    """Send a result to a BenchLoop site: a file, a run by its id, or the newest.

    The bytes of the file are sent as they are, and nothing else but your API key (BENCHLOOP_TOKEN,
    or token under [site] in config.toml). Nothing is sent before you say yes; a pipe is not a yes.
    """
    from bench_loop.errors import SubmitError
    from bench_loop.privacy import private_findings, this_person
    from bench_loop.submit import send, site_address, site_token

    path = result_file(file)
    data = read_bytes(path)
    result = submittable(data, str(path))
    findings = private_findings(data, this_person())
    if print_payload:
        _show_findings(findings)
        sys.stdout.buffer.write(data)
        return 0
    address = site_address(site)
    token = site_token()
    _show_summary(result, path, len(data), address, has_token=token is not None)
    _show_findings(findings)
    if not _has_consent(str(path), findings, is_yes=yes, may_be_private=allow_private):
        click.echo("Nothing was sent.", err=True)
        return NOTHING_SENT
    try:
        answer = send(data, address, token, is_dry_run=dry_run)
    except SubmitError as error:
        _show_fields(error.fields)
        raise
    if dry_run:
        return _show_checks(answer, as_json=as_json)
    _show_answer(answer, address, as_json=as_json)
    return 0


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises ResultError when it cannot be read."""
    from bench_loop.errors import ResultError
    from bench_loop.result.store import read

    try:
        return read(path)
    except ResultError as error:
        raise ResultError(
            str(path),
            None,
            error.reason,
            remedy="Give the path of a result file; `bench-loop run` writes one.",
        ) from error


def submittable(data: bytes, name: str) -> RunResult:
    """The result that the bytes hold. Raises ResultError where no site would take it."""
    from bench_loop.errors import ResultError
    from bench_loop.result.fingerprint import fingerprint
    from bench_loop.result.store import from_bytes

    result = from_bytes(data, name)
    for index, suite in enumerate(result.suites):
        if suite.is_private:
            raise ResultError(
                name,
                f"suites.{index}.is_private",
                f"{suite.suite} is a private pack: its results stay on this machine",
                remedy="Run official suites to have something to submit.",
            )
    if result.status != "complete":
        raise ResultError(
            name,
            "status",
            f"the run is {result.status}; only complete runs can be submitted",
            remedy=f"Bring it to its end: bench-loop run --resume {result.run_id}",
        )
    if fingerprint(result) != result.fingerprint:
        raise ResultError(
            name,
            "fingerprint",
            "does not fit the trials: the file was changed after the run",
            remedy="Submit the file as the run wrote it.",
        )
    return result


def _has_consent(
    name: str, findings: Sequence[PrivateFinding], *, is_yes: bool, may_be_private: bool
) -> bool:
    """Whether the user wants it sent. Raises where nobody can be asked."""
    from bench_loop.errors import ResultError, UsageError

    if is_yes and findings and not may_be_private:
        raise ResultError(
            name,
            findings[0].field,
            f"holds what looks like a {findings[0].kind}",
            remedy="Look at what is listed above; add --allow-private to send it all the same.",
        )
    if is_yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody can be asked here, since the input is no terminal.",
            remedy="Add --yes if the result may leave this machine.",
        )
    question = "Send it all the same?" if findings else "Send it?"
    return click.confirm(question, default=False, err=True)


def _show_summary(result: RunResult, path: Path, size: int, site: str, *, has_token: bool) -> None:
    from bench_loop.console import clean

    subject = result.subject
    lines = (
        ("file", f"{path} ({size:,} bytes)"),
        ("model", " ".join(filter(None, (subject.model_id, subject.quantization)))),
        ("machine", result.machine.device_class),
        ("run", f"{_profile(result)}, {len(result.trials)} trials with the model's answers"),
        ("to", f"{site} ({'with your API key' if has_token else 'without an API key'})"),
    )
    click.echo("This leaves your machine:", err=True)
    for label, text in lines:
        click.echo(f"  {label:8} {clean(text)}", err=True)


def _profile(result: RunResult) -> str:
    seed = result.settings.fresh_seed
    return result.profile if seed is None else f"{result.profile} on fresh instances of seed {seed}"


def _show_findings(findings: Sequence[PrivateFinding]) -> None:
    from bench_loop.console import clean

    if not findings:
        return
    click.echo(f"It may hold private text ({len(findings)} places):", err=True)
    for finding in findings:
        line = f"{finding.field}: {finding.kind}: {finding.excerpt}"
        click.echo(f"  {clean(line)}", err=True)


def _show_fields(fields: Mapping[str, Sequence[str]]) -> None:
    """What the site objects to, field by field; `bench_loop.submit` made the words harmless."""
    if fields:
        click.echo("The site objects to:", err=True)
    for field, sentences in fields.items():
        for sentence in sentences:
            click.echo(f"  {field}: {sentence}" if field else f"  {sentence}", err=True)


def _show_answer(answer: Answer, site: str, *, as_json: bool) -> None:
    import json

    from bench_loop.console import clean
    from bench_loop.submit import shown_url

    body = answer.body
    if as_json:
        click.echo(json.dumps(body, indent=1))
        return
    begin = "The site had this run already" if answer.is_duplicate else "Submitted"
    status, level = (clean(str(body.get(key, "unknown")))[:50] for key in ("status", "level"))
    click.echo(f"{begin}: {status}, level {level}.")
    url = shown_url(site, body.get("url"))
    if url:
        after = "  once a moderator has let it in" if body.get("status") == "pending" else ""
        click.echo(f"{url}{after}")


def _show_checks(answer: Answer, *, as_json: bool) -> int:
    """What a dry run found; the exit code is that of the same upload without it."""
    import json

    from bench_loop.console import clean
    from bench_loop.errors import SubmitError

    body = answer.body
    is_refused = body.get("would_be_accepted") is False
    if as_json:
        click.echo(json.dumps(body, indent=1))
    else:
        verdict = "would refuse" if is_refused else "would accept"
        click.echo(f"The site {verdict} it; nothing was stored.")
        if known := body.get("duplicate_of"):
            click.echo(f"  It has this run already, as {clean(str(known))[:50]}.")
        listed = body.get("findings")
        for finding in listed[:MOST_FINDINGS] if isinstance(listed, list) else ():
            click.echo(f"  {_finding_line(finding)}")
    return SubmitError.exit_code if is_refused else 0


def _finding_line(finding: Any) -> str:
    """A finding of the site as one harmless line."""
    from bench_loop.console import clean

    if not isinstance(finding, dict):
        return clean(str(finding))[:500]
    parts = (finding.get(key) for key in ("severity", "field", "sentence"))
    return clean(": ".join(str(part) for part in parts if part))[:500]
