"""`serve`: the whole site in one go, with its worker, on a loopback address."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

import django

from bench_loop import config
from bench_loop.commands.serve import start_site_process
from bench_loop.errors import SetupError

HOST = "127.0.0.1"
PORTS_TRIED = 100
WATCH_EVERY_S = 1.0
GRACE_S = 5.0
SOCKET_BYTES = 4096

logger = logging.getLogger("benchloop.serve")


def serve(port: int | None, *, is_open: bool | None) -> None:
    """Serve until SIGTERM or SIGINT; the worker ends with the server, however that ends."""
    _require_writable(config.home())
    listener = listen(port)
    django.setup()
    _prepare_database()
    _say_where_mail_goes()
    url = f"http://{HOST}:{listener.getsockname()[1]}"
    worker = WorkerWatch()
    worker.start()
    try:
        _run_server(listener, url, is_open)
    finally:
        worker.stop()


def _require_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SetupError(
            f"The data folder {folder} cannot be written.",
            remedy="Set BENCHLOOP_HOME to a folder you can write to.",
        )


def listen(port: int | None) -> socket.socket:
    """A listening socket: on `port`, or on the site's usual port or the next free one.

    Raises SetupError when there is none.
    """
    first = config.SITE_PORT if port is None else port
    candidates = range(first, first + (PORTS_TRIED if port is None else 1))
    for candidate in candidates:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":
            # Elsewhere this option would let two servers share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen(128)
        except OSError:
            listener.close()
        else:
            return listener
    raise SetupError(
        f"Port {first} is in use." if port else f"No port from {first} on is free.",
        remedy="Give another one with --port.",
    )


def _prepare_database() -> None:
    from django.conf import settings
    from django.core.management import call_command

    from leaderboard import rebuild

    call_command("migrate", verbosity=0, interactive=False)
    if rebuild.is_needed():
        rebuild.rebuild_stacks()
    if settings.BENCHLOOP_ROLE == "local":
        from benchloop_site.local_login import local_user
        from leaderboard.tasks import show_local_results

        local_user()
        show_local_results()


def _say_where_mail_goes() -> None:
    """For who runs the site, in the log: visitors need not know that a link waits in a file."""
    from django.conf import settings

    if settings.BENCHLOOP_ROLE != "public" or os.environ.get("EMAIL_URL"):
        return
    if settings.SENDS_MAIL:
        logger.warning("EMAIL_URL is not set: mail is written to %s.", settings.EMAIL_FILE_PATH)
    else:
        logger.warning("EMAIL_URL is not set: nobody can sign up or get a new password.")


def _run_server(listener: socket.socket, url: str, is_open: bool | None) -> None:
    import daphne.server
    from daphne.server import Server

    from benchloop_site.asgi import application
    from benchloop_site.bounded import BoundedFactory

    # The server has no setting for what it makes of a request.
    daphne.server.HTTPFactory = BoundedFactory  # type: ignore[attr-defined]
    Server(
        application,
        endpoints=[f"fd:fileno={listener.fileno()}"],
        ready_callable=lambda: _announce(url, is_open),
        verbosity=0,
        server_name="benchloop",
        # Watchers send nothing: without a bound they could fill the memory.
        websocket_max_message_size=SOCKET_BYTES,
        websocket_max_frame_size=SOCKET_BYTES,
    ).run()


def _announce(url: str, is_open: bool | None) -> None:
    from django.conf import settings

    link = url
    print(f"Serving on {url}", flush=True)
    if settings.BENCHLOOP_ROLE == "local":
        from benchloop_site.local_login import fresh_token

        link = f"{url}/enter/?token={fresh_token()}"
        print(f"Log in as its owner (good once): {link}", flush=True)
    if is_open or (is_open is None and _has_desktop()):
        threading.Thread(target=webbrowser.open, args=[link], daemon=True).start()


def _has_desktop() -> bool:
    """Whether a person at a screen started this: browsers for terminals would block it."""
    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return has_screen and sys.stdout.isatty()


class WorkerWatch(threading.Thread):
    """Keeps one worker alive and tells it when the results folder has changed."""

    def __init__(self) -> None:
        super().__init__(name="worker-watch", daemon=True)
        self._ending = threading.Event()
        self._worker = start_site_process("worker")

    def run(self) -> None:
        from django.conf import settings

        is_local = settings.BENCHLOOP_ROLE == "local"
        seen = self._folder_state() if is_local else None
        while not self._ending.wait(WATCH_EVERY_S):
            if self._worker.poll() is not None and not self._ending.is_set():
                logger.error("The worker ended (%s); starting another.", self._worker.returncode)
                self._worker = start_site_process("worker")
            if is_local and (state := self._folder_state()) != seen and self._say_look():
                seen = state

    def stop(self) -> None:
        """End the worker and wait for it."""
        self._ending.set()
        self.join()
        self._worker.terminate()
        try:
            self._worker.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.wait()

    def _folder_state(self) -> object:
        from runs.results_folder import folder_state

        return folder_state(config.results_folder())

    def _say_look(self) -> bool:
        """Whether the task could be queued; if not, the next look at the folder tries again."""
        from leaderboard.tasks import look_for_results

        try:
            look_for_results()
        except Exception:
            logger.exception("The queue cannot be written.")
            return False
        return True
