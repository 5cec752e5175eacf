"""`python -m benchloop_site serve | worker | manage ...`: the processes of the site."""

from __future__ import annotations

import argparse
import os
import sys

from django.core.exceptions import ImproperlyConfigured

from bench_loop.errors import BenchLoopError, SetupError


def main(arguments: list[str]) -> int:
    options, rest = _parser().parse_known_args(arguments)
    # Not by default: a developer's shell may name the settings of another project.
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchloop_site.settings"
    if options.process != "manage" and rest:
        _parser().error(f"unknown arguments: {' '.join(rest)}")
    if options.lifeline:
        from benchloop_site.lifeline import end_with_parent

        end_with_parent()
    if options.process == "manage":
        from django.core.management import execute_from_command_line

        execute_from_command_line(["python -m benchloop_site manage", *options.arguments])
        return 0
    if options.process == "worker":
        from benchloop_site.worker import work

        work()
        return 0
    from benchloop_site.server import serve

    serve(options.port, is_open=options.open)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchloop_site", description=__doc__)
    parser.add_argument("--lifeline", action="store_true", help="end when standard input closes")
    processes = parser.add_subparsers(dest="process", required=True)
    serve = processes.add_parser("serve", help="the site, with a worker")
    serve.add_argument("--port", type=int, help="default: 8877, else the next free one")
    serve.add_argument("--open", action=argparse.BooleanOptionalAction, help="open a browser")
    processes.add_parser("worker", help="the task worker alone")
    manage = processes.add_parser("manage", help="Django's commands", add_help=False)
    manage.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ImproperlyConfigured as error:
        print(f"Error: {error}", file=sys.stderr)
        print(
            "  Try: docs/public-site.md and docs/settings.md have the variables.", file=sys.stderr
        )
        sys.exit(SetupError.exit_code)
    except BenchLoopError as error:
        print(f"Error: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"  Try: {error.remedy}", file=sys.stderr)
        sys.exit(error.exit_code)
