"""Where a request comes from, for counting and for telling reporters apart; only a hash is kept."""

from __future__ import annotations

import ipaddress

from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

IPV6_NETWORK_BITS = 64
"""What one customer has at least; counting single addresses would count nobody."""


def address_hash(request: Request) -> str:
    """64 hex digits that stand for the client's address, and cannot be turned back without the key.

    `X-Forwarded-For` counts only from the proxies that NUM_PROXIES says there are.
    """
    return keyed_hash(f"address:{_network(str(BaseThrottle().get_ident(request)))}")


def keyed_hash(text: str) -> str:
    """64 hex digits: HMAC-SHA-256 of `text` under the site's secret key."""
    return salted_hmac("submissions.addresses", text, algorithm="sha256").hexdigest()


def _network(text: str) -> str:
    """An IPv4 address as it is, the /64 of an IPv6 address, anything else cut short."""
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return text[:100]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address.packed, IPV6_NETWORK_BITS), strict=False))
    return str(address)
