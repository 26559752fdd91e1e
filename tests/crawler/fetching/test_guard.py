"""Which addresses may be connected to."""

import pytest

from crawler.fetching.guard import AddressGuard, ForbiddenAddressError

FORBIDDEN = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1%eth0",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(ForbiddenAddressError, match=r"fetch\.allow_networks"):
        AddressGuard().check(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert AddressGuard().allows(address)


def test_an_allowed_network_opens_just_itself() -> None:
    guard = AddressGuard(["127.0.0.0/8"])
    assert guard.allows("127.0.0.9")
    assert guard.allows("::ffff:127.0.0.9")
    assert not guard.allows("10.0.0.1")
