"""docker: a container for each program, by any engine that speaks Docker's API (also Podman).

The engine is the one that DOCKER_HOST or the user's Docker context names. Nothing is pulled, and
nothing of the host is mounted: files go in by standard input and come out by standard output.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import time
from typing import TYPE_CHECKING, Any, Literal

from bench_loop.contracts.sandbox import SandboxHost, SandboxKind, SandboxLimits, SandboxRecord
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _control_group
from bench_loop.sandboxes._image import image_id
from bench_loop.sandboxes._marker import is_overdue, marker
from bench_loop.sandboxes._session import (
    MB,
    Channel,
    Confinement,
    Death,
    StagedSandbox,
    supervisor_source,
)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

USER = 10001
WORK, SCRATCH = "/work", "/tmp"  # noqa: S108  (inside the container)
LABEL = "bench-loop.sandbox"
ANSWER_S = 60
"""Time for the engine to answer one request."""

REMOVAL_S = 20
PIECE = 65536
STREAM_HEAD = 8
STDOUT = 1
USUAL_SOCKETS = ("/var/run/docker.sock", "/run/podman/podman.sock")
REMEDY = "Start Docker (or `podman system service`), and set DOCKER_HOST if it is not found."


def open_kind(
    limits: SandboxLimits, *, user: int | None = None, is_unsafe_allowed: bool = False
) -> Docker:
    """Raises SandboxError, with the remedy, where no engine answers or there is no image."""
    client = connect()
    try:
        return Docker(client, limits)
    except BaseException:
        client.close()
        raise


def connect() -> DockerClient:
    """A client of the engine that answers. Raises SandboxError when none does."""
    import docker
    from docker.errors import DockerException

    for address in filter(_is_open, _addresses()):
        try:
            return docker.from_env(
                timeout=ANSWER_S, environment={**os.environ, "DOCKER_HOST": address}
            )
        except DockerException:
            continue
    raise SandboxError("No Docker or Podman engine answers.", remedy=REMEDY)


def _addresses() -> list[str]:
    """Where an engine may be: where the user says, else where engines usually are."""
    from docker.context import ContextAPI

    if named := os.environ.get("DOCKER_HOST"):
        return [named]
    context = ContextAPI.get_current_context()
    sockets = [*USUAL_SOCKETS, f"{os.environ.get('XDG_RUNTIME_DIR', '')}/podman/podman.sock"]
    return [
        *([context.Host] if context and context.Host else []),
        *(f"unix://{path}" for path in sockets),
    ]


def _is_open(address: str) -> bool:
    """Whether something listens, as far as that can be told without the engine's client."""
    scheme, _, path = address.partition("://")
    if scheme != "unix":
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


class Docker(StagedSandbox):
    """A fresh container for each program."""

    kind: SandboxKind = "docker"

    def __init__(self, client: DockerClient, limits: SandboxLimits) -> None:
        super().__init__(limits)
        self._client = client
        self._image = image_id(client)
        self._facts = client.version()
        self._info = client.info()
        self._sweep()

    def record(self) -> SandboxRecord:
        options = self._info.get("SecurityOptions") or []
        return SandboxRecord(
            kind="docker",
            engine=_engine(self._facts),
            engine_version=self._facts.get("Version"),
            runtime=self._info.get("DefaultRuntime"),
            rootless=any("rootless" in option for option in options),
            image=self._image,
            host=SandboxHost(
                os=platform.system(),
                kernel=self._info.get("KernelVersion") or platform.release(),
                cgroup=_cgroup(self._info),
            ),
            network="none",
            limits=self.limits,
            limits_verified=self.verified,
            seccomp="default" if any("seccomp" in option for option in options) else "none",
            user=USER,
            opted_in=False,
        )

    def close(self) -> None:
        self._sweep()
        self._client.close()

    def _sweep(self) -> None:
        """Remove the containers that a harness which was killed left behind."""
        for container in self._client.containers.list(all=True, filters={"label": LABEL}):
            if is_overdue(container.labels[LABEL]):
                _remove(container)

    def _start(self, wall_s: float) -> tuple[Channel, Confinement]:
        from docker.errors import DockerException

        container: Container | None = None
        try:
            container = self._client.containers.create(**self._settings(marker(wall_s)))
            stream = container.attach_socket(
                params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            )
            container.start()
        except (DockerException, OSError) as error:
            if container is not None:
                _remove(container)
            raise SandboxError(f"The engine can't start a container: {error}") from error
        return ContainerChannel(container, stream), Confinement(WORK, SCRATCH, rlimits={"CORE": 0})

    def _settings(self, name: str) -> dict[str, Any]:
        limits = self.limits
        disk = f"size={limits.disk_mb * MB},mode=1777"
        return {
            "image": self._image,
            "entrypoint": ["python3", "-I", "-S", "-c", supervisor_source()],
            "name": name,
            "labels": {LABEL: name},
            "environment": {"LANG": "C.UTF-8"},
            "working_dir": WORK,
            "stdin_open": True,
            "network_mode": "none",
            "read_only": True,
            "tmpfs": {
                WORK: disk,
                SCRATCH: disk,
                "/run": "size=65536",
                "/var/tmp": "size=65536",  # noqa: S108
            },
            "shm_size": limits.disk_mb * MB,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "user": f"{USER}:{USER}",
            "mem_limit": limits.memory_mb * MB,
            "memswap_limit": limits.memory_mb * MB,
            "pids_limit": limits.pids + 1,  # and the supervisor
            "nano_cpus": int(limits.cpus * 1e9),
            "ulimits": _ulimits(),
            "ipc_mode": "private",
            "log_config": _no_log(),
        }


class ContainerChannel:
    """The attached streams of the supervisor in a container."""

    def __init__(self, container: Container, stream: Any) -> None:
        self._container = container
        self._stream = stream
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._waiting = bytearray()
        self._complaints = bytearray()
        self._death: Death | None = None

    def send(self, data: bytes) -> None:
        self._socket.settimeout(ANSWER_S)
        with contextlib.suppress(OSError):
            self._socket.sendall(data)

    def receive(self, wait_s: float) -> bytes | None:
        end = time.monotonic() + wait_s
        while True:
            if (piece := self._next_piece()) is not None:
                return piece
            # Zero would mean: don't wait at all.
            self._socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                data = self._socket.recv(PIECE)
            except TimeoutError:
                return b""
            except OSError:
                return None
            if not data:
                return None
            self._waiting += data

    def _next_piece(self) -> bytes | None:
        """The next piece of standard output; pieces of standard error are put aside."""
        while len(self._waiting) >= STREAM_HEAD:
            size = int.from_bytes(self._waiting[4:STREAM_HEAD], "big")
            if len(self._waiting) < STREAM_HEAD + size:
                return None
            number = self._waiting[0]
            piece = bytes(self._waiting[STREAM_HEAD : STREAM_HEAD + size])
            del self._waiting[: STREAM_HEAD + size]
            if number == STDOUT and piece:
                return piece
            self._complaints = (self._complaints + piece)[:4096]
        return None

    def kill(self) -> Death:
        if self._death is None:
            # In this order: while nobody reads the stream, an engine may wait for it in vain.
            self._stream.close()
            self._socket.close()
            is_out_of_memory = _is_out_of_memory(self._container)
            _remove(self._container)
            said = self._complaints.decode(errors="replace").strip()
            self._death = Death(is_out_of_memory, said)
        return self._death


def _is_out_of_memory(container: Container) -> bool:
    from docker.errors import DockerException

    try:
        container.reload()
    except (DockerException, OSError):
        return False
    return bool(container.attrs["State"].get("OOMKilled"))


def _remove(container: Container) -> None:
    """Kill and remove, whether or not it still runs or exists.

    An engine may refuse while the container is just coming to its end, so it is asked again.
    """
    from docker.errors import APIError, NotFound

    end = time.monotonic() + REMOVAL_S
    while True:
        try:
            container.remove(force=True, v=True)
        except NotFound:
            return
        except APIError as error:
            if time.monotonic() > end:
                raise SandboxError(f"A container can't be removed: {error.explanation}") from error
            time.sleep(0.05)
        else:
            return


def _ulimits() -> list[Any]:
    from docker.types import Ulimit

    # Always given: an engine's own defaults may be above what its host allows. That of processes is
    # loose, since it counts those of all containers together.
    return [
        Ulimit(name="nofile", soft=256, hard=256),
        Ulimit(name="nproc", soft=4096, hard=4096),
        Ulimit(name="core", soft=0, hard=0),
    ]


def _no_log() -> Any:
    from docker.types import LogConfig

    return LogConfig(type="none")


def _engine(version: dict[str, Any]) -> Literal["docker", "podman"]:
    names = [part.get("Name", "") for part in version.get("Components") or []]
    return "podman" if any("podman" in name.lower() for name in names) else "docker"


def _cgroup(info: dict[str, Any]) -> Literal["v1", "v2", "hybrid", "none"]:
    if str(info.get("CgroupVersion")) == "2":
        return "v2"
    return "hybrid" if _control_group.version() == "hybrid" else "v1"
