"""Programs that hand on what arrives at their ports, by name."""

from __future__ import annotations

import re

# To another host, as far as anybody here can see.
_FORWARDERS = re.compile(
    r"(ssh|sshd|autossh|sshuttle|plink|putty|cloudflared|frpc|frps|rathole|ngrok|chisel|bore|gost"
    r"|wstunnel|zrok|playit|stunnel4?|tailscaled?|ipn|zerotier-one|socat|ncat|nc|netcat|rinetd|redir"
    r"|kubectl|oc|telepresence|iproxy|adb|nginx|haproxy|caddy|traefik|envoy)",
)

# Into a container or a virtual machine of the same computer: the usual way to run a server in
# Docker or WSL2, on the hardware that this machine shows.
_DOORS = re.compile(
    r"(docker-proxy|com\.docker\.backend|rootlessport|rootlesskit|gvproxy|slirp4netns|pasta|passt"
    r"|limactl|colima|wslrelay|wslhost)"
)


def is_forwarder(program: str) -> bool:
    """Whether a program of this name hands on what arrives to some other host."""
    return _FORWARDERS.fullmatch(_bare(program)) is not None


def is_door(program: str) -> bool:
    """Whether a program of this name hands on what arrives into a part of this computer."""
    return _DOORS.fullmatch(_bare(program)) is not None


def _bare(program: str) -> str:
    return program.lower().removesuffix(".exe")
