"""The command table. A command's own module is imported when it is called, and not before."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click

import bench_loop
from bench_loop.errors import BenchLoopError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# httpx loads a command line of its own wherever rich is installed, and with it parts of rich and
# pygments that nothing here uses: two megabytes of a process whose size is measured beside a model.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

# One line per command: the module `bench_loop.commands.<name>` defines a click command `command`.
GROUPS = {
    "Measure": {
        "quickstart": "Benchmark a model on this machine and open the local site.",
        "run": "Benchmark one model, or several in turn; --resume goes on.",
        "matrix": "Run models in several harnesses; see what each costs and gains.",
        "recommend": "Try the installed models and say which one to take.",
        "quantdiff": "Compare what two quantizations of one model expect next.",
        "import": "Take in results of llama-bench or lm-evaluation-harness.",
    },
    "Look": {
        "runs": "List, show, export and delete runs, unfinished ones too.",
        "compare": "Compare result files.",
        "report": "Write one run as a page, Markdown, JSON, CSV or JUnit XML.",
        "dashboard": "Write one HTML file from a folder of results.",
        "serve": "Open the local site.",
        "suites": "List suites, tasks and profiles.",
    },
    "This machine": {
        "info": "Show this machine, its model servers and their models.",
        "doctor": "Look for what speaks against a run here, and what mends it.",
        "harness": "List, install, check and remove harness programs.",
        "endpoints": "Keep addresses of model servers under names.",
        "selftest": "Measure servers of known speed: how far to believe the clocks.",
    },
    "Share": {
        "submit": "Send a result to a BenchLoop site.",
    },
    "Check and build": {
        "score": "Judge one output by a task file.",
        "rescore": "Judge a stored run again and show what changed.",
        "verify": "Check a result, yours or one from a site: does it hold?",
        "validate": "Check packs: schema, keys, answers that must pass or fail.",
        "parse": "Say what names of models, GPUs and streams mean.",
        "schema": "Print the JSON Schema of the result file or of task files.",
    },
}
"""The commands under what one wants of them, as the help shows them."""

COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A click group that knows its commands by name and loads them one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bench_loop.commands.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=2)
            if not close:
                raise
            hint = f"{error.message} Did you mean {' or '.join(close)}?"
            raise click.UsageError(hint, ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and options that begin so; commands from the table, without loading them."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=sentence)
            for name, sentence in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help from the table above: listing the commands must not load them."""
        wide = max(map(len, COMMANDS))
        for purpose, commands in GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:{wide}}", line) for name, line in commands.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
    epilog="Start with: bench-loop quickstart",
)
@click.version_option(bench_loop.__version__, "-V", "--version", prog_name="bench-loop")
@click.option("--debug", is_flag=True, help="Show a traceback when something goes wrong.")
@click.pass_context
def group(ctx: click.Context, debug: bool) -> None:
    """Which local model, at which quantization, in which harness, works on your hardware?

    BenchLoop measures models that run on your own machine and writes down the evidence. Nothing
    leaves the machine unless you submit it.
    """
    ctx.obj = {"debug": debug}


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: the one place where errors are printed."""
    arguments = sys.argv[1:] if argv is None else argv
    _escape_what_cannot_be_encoded()
    try:
        outcome: Any = group.main(arguments, prog_name="bench-loop", standalone_mode=False)
    except BenchLoopError as error:
        if "--debug" in arguments:
            raise
        _complain(error.message, error.remedy)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo("Interrupted.", err=True)
        # click turns a signal into its own Abort.
        sys.exit(getattr(stop.__cause__ or stop, "exit_code", INTERRUPTED))
    except BrokenPipeError:
        # The reader of a pipe went away; nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(outcome if isinstance(outcome, int) else 0)


def _escape_what_cannot_be_encoded() -> None:
    """A name that the code page of a terminal lacks comes out as an escape, not as an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str, remedy: str | None) -> None:
    """Print an error; what it quotes may come from a server or a file, so it is made harmless."""
    from bench_loop.report.printable import printable

    click.echo(f"Error: {printable(message)}", err=True)
    if remedy:
        lead = "" if remedy.endswith("?") else "Try: "
        click.echo(f"  {lead}{printable(remedy)}", err=True)
