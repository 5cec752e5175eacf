"""`bench-loop quantdiff`: how far two quantizations of one model are apart."""

from __future__ import annotations

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
TELL_EVERY = 100

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
    default=2000,
    show_default=True,
    help="Positions of the text to compare, as far as it reaches.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, and only those.")
def command(a: str, b: str, positions: int, as_json: bool) -> None:
    """Compare what two quantizations of one model expect next.

    A and B are GGUF files, short names of embedded models, or addresses of llama.cpp servers. At
    each position of a fixed text both say how likely each next token is. This is a diagnostic: it
    says how alike two models are, not how good they are, and is in no score.
    """
    from bench_loop.engine.quantdiff import chunks, read_ahead
    from bench_loop.errors import UsageError
    from bench_loop.scoring.divergence import divergence

    read: list[tuple[list[tuple[int, ...]], list[Logprobs]]] = []
    for name in (a, b):
        with opened(name) as model:
            pieces = chunks(model.tokens(_text()), positions)
            if read and pieces != read[0][0]:
                raise UsageError(
                    "A and B cut the text into different tokens: they are not one model.",
                    remedy="Compare two quantizations of the same model.",
                )
            read.append((pieces, read_ahead(model, pieces, _teller(name))))
    found = divergence(read[0][1], read[1][1])
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        click.echo("\n".join(sentences(found)))


@contextmanager
def opened(name: str) -> Iterator[Foresight]:
    """The model that `name` stands for; an engine that was started for it is stopped."""
    from bench_loop.config import api_key
    from bench_loop.providers import embedded, openai_compat

    if "://" in name:
        with closing(openai_compat.OpenAICompat(name, api_key("openai_compat"))) as server:
            yield server
        return
    child = embedded.start(name, WINDOW, on_progress=lambda text: click.echo(text, err=True))
    with closing(child):
        assert isinstance(child, embedded.Embedded)
        yield child


def sentences(found: Divergence) -> list[str]:
    """The figures, and what they are not."""
    from bench_loop.engine.quantdiff import MOST_LIKELY

    low, high = (100 * bound for bound in found.agreement_interval)
    error = "" if found.mean_kl_error is None else f" (standard error {found.mean_kl_error:.4f})"
    return [
        f"positions         {found.positions:,}",
        f"top-1 agreement   {100 * found.agreement:.1f} % ({low:.1f} to {high:.1f})",
        f"mean KL (A to B)  at least {found.mean_kl:.4f} nats{error}",
        "",
        f"A diagnostic, in no score. Of each position the {MOST_LIKELY} most likely tokens of both",
        "models are known; those in both lists hold "
        f"{100 * found.compared_share:.1f} % of A's probability. For the",
        "others the smallest possible value is taken: the truth is this or more.",
    ]


def _text() -> str:
    from bench_loop.engine.packs import load_pack

    return load_pack("speed").texts["prose"]


def _teller(name: str) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if done % TELL_EVERY == 0 or done == total:
            click.echo(f"{name}: {done:,} of {total:,}", err=True)

    return tell
