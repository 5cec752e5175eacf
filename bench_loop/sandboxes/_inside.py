"""The supervisor inside a sandbox: it starts one program, relays what it writes, and ends it.

Its source is handed to the sandbox's interpreter, so it needs the standard library only. It is not
trusted: whatever it says could as well have been said by the program, and every limit that matters
is enforced from outside. It reads a request from standard input (a length, JSON, the bytes of
files) and writes frames to standard output: a letter, a length, a payload.

    r              the program has been started
    o, e           a piece of its standard output or error
    x              how it ended, as JSON: status (negative: signal), limit, oom
    f              a file of the work folder: path, NUL, content
    s              the path of something in the work folder that was left out
    l              the work folder holds more than is read back
    !              the supervisor failed: why
    z              the end
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost every program milliseconds
    from typing import Any, BinaryIO

    Request = dict[str, Any]

LENGTH = struct.Struct(">I")
PIECE = 65536

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SECCOMP_MODE_FILTER = 2


def main() -> None:
    """Serve one request."""
    try:
        request = json.loads(_read_exactly(*LENGTH.unpack(_read_exactly(LENGTH.size))))
        supervise(request)
    except Exception as error:
        send(b"!", f"{type(error).__name__}: {error}".encode())
    send(b"z")


def supervise(request: Request) -> None:
    """Start the program of `request`, relay what it writes, end everything, read files back."""
    signal.signal(signal.SIGTERM, _die)
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_DUMPABLE, 0)  # the program can't look into this process
        if os.getpid() != 1:
            _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    os.chdir(request["work"])
    standard_input = _receive_stdin(request["stdin_bytes"])
    for path, size in request["files"]:
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_read_exactly(size))
    wake, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        program = _start(request, standard_input)
    except OSError as error:
        send(b"r")
        send(b"e", f"{request['argv'][0]}: {error.strerror}\n".encode())
        send(b"x", json.dumps({"status": 127, "limit": None, "oom": False}).encode())
    else:
        send(b"r")
        status, limit = _relay(program, wake, request["wall_s"])
        send(b"x", json.dumps({"status": status, "limit": limit, "oom": oom_kills() > 0}).encode())
    if request["files_bytes"]:
        _send_files(request["files_bytes"], request["files_max"])


def _die(number: int, _: object) -> None:
    kill_all()
    os._exit(128 + number)


def _start(request: Request, standard_input: int | BinaryIO) -> subprocess.Popen[bytes]:
    argv = request["argv"]
    if argv[0] == "python":
        argv = [sys.executable, *argv[1:]]
    return subprocess.Popen(
        argv,
        stdin=standard_input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=request["env"],
        start_new_session=True,
        # Safe here: this process has one thread.
        preexec_fn=lambda: _confine(request),
    )


def _receive_stdin(size: int | None) -> int | BinaryIO:
    """The program's standard input: a file with `size` bytes, or (None) this process's own."""
    if size is None:
        return 0
    file = _nameless_file()
    file.write(_read_exactly(size))
    file.seek(0)
    return file


def _nameless_file() -> BinaryIO:
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("stdin"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _confine(request: Request) -> None:
    """In the program's process, before it is executed."""
    import resource

    if sys.platform == "linux":
        _prctl(PR_SET_DUMPABLE, 1)
        with contextlib.suppress(OSError):  # the first to go when memory runs out
            Path("/proc/self/oom_score_adj").write_text("1000")
    for name, value in request["rlimits"].items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is not None:
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))
    if request["readable"] is not None:
        restrict_files(request["readable"], request["writable"])
    if request["seccomp"]:
        _filter_calls(bytes.fromhex(request["seccomp"]))


# --- Relaying -------------------------------------------------------------------------------------


def _relay(
    program: subprocess.Popen[bytes], wake: int, wall_s: float
) -> tuple[int | None, str | None]:
    """Relay until the program ends or its time is up; then nothing of it is left alive."""
    assert program.stdout is not None
    assert program.stderr is not None
    end = time.monotonic() + wall_s
    status: int | None = None
    with selectors.DefaultSelector() as ready:
        ready.register(wake, selectors.EVENT_READ)
        for pipe, letter in ((program.stdout, b"o"), (program.stderr, b"e")):
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe, selectors.EVENT_READ, letter)
        while status is None and time.monotonic() < end:
            for key, _ in ready.select(end - time.monotonic()):
                if key.data is None:
                    os.read(wake, PIECE)
                    status = _reap(program.pid)
                elif not _forward(key.fd, key.data):
                    ready.unregister(key.fileobj)
    kill_all()
    for pipe, letter in ((program.stdout, b"o"), (program.stderr, b"e")):
        while _forward(pipe.fileno(), letter):
            pass
    program.returncode = 0  # reaped above: subprocess must not wait for it again
    return status, "wall" if status is None else None


def _forward(descriptor: int, letter: bytes) -> bool:
    """Relay what can be read now; false at the end, and when there is nothing."""
    try:
        piece = os.read(descriptor, PIECE)
    except BlockingIOError:
        return False
    if piece:
        send(letter, piece)
    return bool(piece)


def _reap(program: int) -> int | None:
    """Collect the dead; the exit status of `program` if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, code = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                status = os.waitstatus_to_exitcode(code)
    return status


def kill_all() -> None:
    """SIGKILL to every process below this one, and to what they leave, until none is left."""
    while True:
        if os.getpid() == 1:
            _signal(-1, signal.SIGKILL)  # everything in the namespace
        else:
            kill_below(os.getpid())
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill_below(root: int) -> None:
    """SIGKILL to every process below `root`, which adopts their orphans.

    They are all stopped first: what is stopped can't start another while the list is made.
    """
    stopped: set[int] = set()
    while new := set(living_below(root)) - stopped:
        for pid in new:
            _signal(pid, signal.SIGSTOP)
        stopped |= new
    for pid in stopped:
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def living_below(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in _living():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _living() -> Iterator[tuple[int, int]]:
    """Each process that is no zombie, with its parent."""
    if sys.platform != "linux":
        listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True)
        for line in listing.stdout.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "stat").read_text(errors="replace")
            state, above = line.rpartition(")")[2].split()[:2]
            if state != "Z":
                yield int(folder.name), int(above)


def oom_kills() -> int:
    """Processes that the memory limit killed, as far as a control group can be seen in here."""
    for file in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        with contextlib.suppress(OSError):
            for line in Path(file).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return 0


# --- Files ----------------------------------------------------------------------------------------


def _send_files(bytes_max: int, files_max: int) -> None:
    """Every regular file below the current folder; whatever else there is only by name."""
    left = bytes_max
    for count, path in enumerate(_walk("."), 1):
        name = os.fsencode(path[2:])
        content = regular_content(path, left)
        if count > files_max or (content is not None and len(content) > left):
            send(b"l")
            return
        if content is None:
            send(b"s", name)
        else:
            left -= len(content)
            send(b"f", name + b"\0" + content)


def _walk(folder: str) -> Iterator[str]:
    """What lies below `folder` and is no folder, in a stable order; no link is followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        else:
            yield entry.path


def regular_content(path: str, bytes_max: int) -> bytes | None:
    """Content of a regular file, at most a byte more than `bytes_max`; None: it is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(bytes_max + 1)


# --- Words on the wire ----------------------------------------------------------------------------


def send(letter: bytes, payload: bytes = b"") -> None:
    """Write one frame."""
    data = memoryview(letter + LENGTH.pack(len(payload)) + payload)
    while data:
        data = data[os.write(1, data) :]


def _read_exactly(size: int) -> bytes:
    """The next bytes of standard input and none beyond: the rest may be the program's."""
    pieces = []
    while size:
        piece = os.read(0, min(size, 1 << 20))
        if not piece:
            raise EOFError("the request ended early")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


# --- Linux: Landlock and seccomp ------------------------------------------------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
READ_RIGHTS = 0b1101  # execute, read a file, list a folder
FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}  # from ABI 5 on also ioctl on devices
RIGHTS_OF_A_FILE = 0xC007  # what can be granted for something that is no folder
TCP_RIGHTS = 0b11
SCOPES = 0b11  # abstract Unix sockets and signals of processes outside


def landlock_abi() -> int:
    """Landlock's version on this kernel; 0: it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def restrict_files(readable: list[str], writable: list[str]) -> None:
    """From now on only these paths can be used, no TCP, and no signal goes outside."""
    abi = landlock_abi()
    if not abi:
        return
    rights = FILE_RIGHTS.get(abi, 0xFFFF)
    attribute = struct.pack(
        "=QQQ", rights, TCP_RIGHTS if abi >= 4 else 0, SCOPES if abi >= 6 else 0
    )
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _call(CREATE_RULESET, attribute[:size], ctypes.c_size_t(size), 0)
    for paths, allowed in ((readable, READ_RIGHTS), (writable, rights)):
        for path in paths:
            _allow(ruleset, path, allowed & rights)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= RIGHTS_OF_A_FILE
    _call(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)


def _filter_calls(program: bytes) -> None:
    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]

    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Filter(len(program) // 8, program)))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: Any) -> int:
    return _checked(_libc().syscall(number, *arguments))


def _prctl(option: int, *arguments: Any) -> None:
    rest: list[Any] = [*arguments, 0, 0, 0, 0][:4]
    _checked(_libc().prctl(option, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in rest)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
