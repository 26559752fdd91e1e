"""Which addresses may be connected to?  Public ones, and networks the operator allows."""

import ipaddress
from collections.abc import Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenAddressError(OSError):
    """Raised while connecting, so that it travels the way a refused connection does."""


class AddressGuard:
    """Refuses private, loopback, link-local, metadata and other non-public addresses.

    It is asked for the address of each socket about to connect, so neither a redirect nor a second DNS
    answer (rebinding) gets around it.
    """

    def __init__(self, allow: Sequence[str] = ()) -> None:
        self._allow: tuple[Network, ...] = tuple(ipaddress.ip_network(text) for text in allow)

    def allows(self, address: str) -> bool:
        parsed = _embedded(ipaddress.ip_address(address.partition("%")[0]))
        if any(parsed in network for network in self._allow):
            return True
        return parsed.is_global and not parsed.is_multicast

    def check(self, address: str) -> None:
        if not self.allows(address):
            raise ForbiddenAddressError(
                f"{address} is not a public address; fetch.allow_networks does not name it"
            )


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address.sixtofour:
            return address.sixtofour
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
