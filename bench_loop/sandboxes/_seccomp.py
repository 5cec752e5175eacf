"""A system call filter as a classic BPF program, made by hand: libseccomp is not everywhere.

What is refused gets EPERM (clone3: ENOSYS, so that the C library falls back to clone, whose flags
can be read). Calls and numbers: linux/arch/*/entry/syscalls, include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data
X32_BIT = 0x40000000
CLONE_NEWUSER, TIOCSTI, TYPE_MASK = 0x10000000, 0x5412, 0xFF

REFUSED_CALLS = (
    "acct add_key bpf chroot delete_module finit_module fsconfig fsmount fsopen fspick init_module"
    " io_uring_enter io_uring_register io_uring_setup kexec_file_load kexec_load keyctl mount"
    " mount_setattr move_mount name_to_handle_at open_by_handle_at open_tree perf_event_open"
    " pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl"
    " reboot request_key setns swapon syslog umount2 unshare userfaultfd"
).split()

SINCE_5_1 = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
}
"""Calls that have the same number on every architecture."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """AUDIT_ARCH_* and the numbers of calls."""

    audit: int
    numbers: dict[str, int]


def _architecture(audit: int, older: str) -> Architecture:
    pairs = (pair.split("=") for pair in older.split())
    return Architecture(audit, {name: int(number) for name, number in pairs} | SINCE_5_1)


ARCHITECTURES = {
    "x86_64": _architecture(
        0xC000003E,
        "ioctl=16 socket=41 socketpair=53 clone=56 ptrace=101 syslog=103 pivot_root=155 chroot=161"
        " acct=163 mount=165 umount2=166 swapon=167 reboot=169 init_module=175 delete_module=176"
        " quotactl=179 kexec_load=246 add_key=248 request_key=249 keyctl=250 unshare=272"
        " perf_event_open=298 name_to_handle_at=303 open_by_handle_at=304 setns=308"
        " process_vm_readv=310 process_vm_writev=311 finit_module=313 kexec_file_load=320 bpf=321"
        " userfaultfd=323",
    ),
    "aarch64": _architecture(
        0xC00000B7,
        "ioctl=29 umount2=39 mount=40 pivot_root=41 chroot=51 quotactl=60 acct=89 unshare=97"
        " kexec_load=104 init_module=105 delete_module=106 syslog=116 ptrace=117 reboot=142"
        " socket=198 socketpair=199 add_key=217 request_key=218 keyctl=219 clone=220 swapon=224"
        " perf_event_open=241 name_to_handle_at=264 open_by_handle_at=265 setns=268"
        " process_vm_readv=270 process_vm_writev=271 finit_module=273 bpf=280 userfaultfd=282"
        " kexec_file_load=294",
    ),
}

LOCAL_FAMILIES = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", 1))
"""Socket families that are harmless where the network is a namespace of its own."""


def filter_program(machine: str, families: Sequence[int]) -> bytes | None:
    """The filter for `machine` (as `platform.machine()` says); None: there is none for it.

    Sockets can be made of `families` only; pairs of connected stream sockets always.
    """
    architecture = ARCHITECTURES.get(machine)
    if architecture is None:
        return None
    number = architecture.numbers
    code = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, architecture.audit, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(AT_LEAST, X32_BIT, 0, 1),
        _refuse(),
    ]
    for call in REFUSED_CALLS:
        code += [_step(EQUAL, number[call], 0, 1), _refuse()]
    code += [_step(EQUAL, number["clone3"], 0, 1), _refuse(errno.ENOSYS)]
    code += _when(number["clone"], FIRST, [_step(ANY_BIT, CLONE_NEWUSER, 0, 1), _refuse()])
    code += _when(number["ioctl"], SECOND, [_step(EQUAL, TIOCSTI, 0, 1), _refuse()])
    code += _when(number["socket"], FIRST, _allow_only(families))
    stream_pairs = [_step(AND, TYPE_MASK), *_allow_only([socket.SOCK_STREAM])]
    code += _when(number["socketpair"], SECOND, stream_pairs)
    code.append(_step(RETURN, ALLOW))
    return b"".join(code)


def _when(number: int, argument: int, steps: list[bytes]) -> list[bytes]:
    """For one call: load an argument, do `steps`, and allow what they let through."""
    body = [_step(LOAD, argument), *steps, _step(RETURN, ALLOW)]
    return [_step(EQUAL, number, 0, len(body)), *body]


def _allow_only(values: Sequence[int]) -> list[bytes]:
    steps = []
    for value in values:
        steps += [_step(EQUAL, value, 0, 1), _step(RETURN, ALLOW)]
    return [*steps, _refuse()]


def _refuse(number: int = errno.EPERM) -> bytes:
    return _step(RETURN, REFUSE | number)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
