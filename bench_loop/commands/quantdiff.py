"""`bench-loop quantdiff`: how far two quantizations of one model are apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.contracts.provider import Foresight
    from bench_loop.scoring.divergence import Divergence, Logprobs

WINDOW = 1024
TELL_EVERY = 500
LONG_S = 300.0
"""From here on the shorter way is pointed out."""

EXAMPLES = """
\b
Examples:
  bench-loop quantdiff model-Q8_0.gguf model-Q4_K_M.gguf
  bench-loop quantdiff http://127.0.0.1:8080 http://127.0.0.1:8081 --tokens 5000
"""


@click.command(epilog=EXAMPLES)
@click.argument("a")
@click.argument("b")
@click.option(
    "--tokens",
    "positions",
    type=click.IntRange(50, 20_000),
    default=20_000,
    show_default=True,
    help="Positions of the text to compare. Fewer take less time, and say less.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, and only those.")
def command(a: str, b: str, positions: int, as_json: bool) -> None:
    """Compare what two quantizations of one model expect next.

    A and B are GGUF files, short names of embedded models, or addresses of llama.cpp or vLLM
    servers. At each position of a fixed text both say how likely each next token is. This is a
    diagnostic: it says how alike two models are, not how good they are, and is in no score.

    llama.cpp takes a request for each position, about as long as it takes to write a token: how
    long all of them will take is said before they begin.
    """
    from bench_loop.engine.quantdiff import chunks
    from bench_loop.errors import UsageError
    from bench_loop.scoring.divergence import divergence

    with opened(b) as model:
        wanted = chunks(model.tokens(text()), positions)
    with opened(a) as model:
        pieces = chunks(model.tokens(text()), positions)
        if pieces != wanted:
            raise UsageError(
                "A and B cut the text into different tokens: they are not one model.",
                remedy="Compare two quantizations of the same model.",
            )
        ours = _read(a, model, pieces)
    with opened(b) as model:
        found = divergence(ours, _read(b, model, pieces))
    if as_json:
        click.echo(json.dumps(asdict(found) | {"text_sha256": text_sha256()}, indent=2))
    else:
        click.echo("\n".join(sentences(found, len(pieces))))


def text() -> str:
    """The fixed text that both read."""
    from bench_loop.engine.quantdiff import TEXT_FILE

    return TEXT_FILE.read_text(encoding="utf-8")


def text_sha256() -> str:
    """Which text it is: figures over another cannot be compared."""
    return hashlib.sha256(text().encode()).hexdigest()


def _read(name: str, model: Foresight, pieces: list[tuple[int, ...]]) -> list[list[Logprobs]]:
    """What `model` expects at each position, after saying how long it will take."""
    from bench_loop.engine.quantdiff import expected_s, positions_in, read_ahead
    from bench_loop.report import figures

    count, cost_s = positions_in(pieces), expected_s(model, pieces)
    pace = f"about {figures.duration(cost_s)} at its pace of now"
    click.echo(f"{name}: {count:,} positions, {pace}.", err=True)
    if cost_s > LONG_S:
        click.echo("--tokens 2000 takes a tenth of it; Ctrl-C ends it.", err=True)
    return read_ahead(model, pieces, _teller(name))


@contextmanager
def opened(name: str) -> Iterator[Foresight]:
    """The model that `name` stands for; an engine that was started for it is stopped."""
    from bench_loop.config import api_key
    from bench_loop.providers import embedded, openai_compat

    if "://" in name:
        with closing(openai_compat.OpenAICompat(name, api_key("openai_compat"))) as server:
            yield server
        return
    child = embedded.start(name, WINDOW, on_progress=lambda line: click.echo(line, err=True))
    with closing(child):
        assert isinstance(child, embedded.Embedded)
        yield child


def sentences(found: Divergence, pieces: int) -> list[str]:
    """The figures with their intervals at 95 %, and what they are not."""
    low, high = (100 * bound for bound in found.agreement_interval)
    parts = "1 piece" if pieces == 1 else f"{pieces} pieces"
    kl = "no interval of one piece"
    if found.mean_kl_interval is not None:
        kl = f"{found.mean_kl_interval[0]:.4f} to {found.mean_kl_interval[1]:.4f}"
    return [
        f"positions         {found.positions:,} in {parts} of text",
        f"top-1 agreement   {100 * found.agreement:.2f} % ({low:.2f} to {high:.2f})",
        f"mean KL (A to B)  at least {found.mean_kl:.4f} nats ({kl})",
        "",
        "A diagnostic, in no score. Of each position only the most likely tokens are known;",
        f"those in both lists hold {100 * found.compared_share:.1f} % of A's probability. "
        "For the others the smallest",
        "possible value is taken: the truth is this or more.",
    ]


def _teller(name: str) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if done % TELL_EVERY == 0 or done == total:
            click.echo(f"{name}: {done:,} of {total:,}", err=True)

    return tell
