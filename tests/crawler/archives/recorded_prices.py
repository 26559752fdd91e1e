"""A small recorded shop as CSV tables, whose prices every test can reckon by hand."""

from pathlib import Path

import numpy as np

from crawler.archives.truth import Truth

HOUR, DAY = 3600.0, 86_400.0
MONDAY = 1_767_571_200.0


def write_shop(folder: Path, *, offers: int = 20, days: int = 4, seed: int = 1) -> tuple[Path, ...]:
    """Half of the offers change every six hours, half never; a tenth is born late and a tenth goes early."""
    rng = np.random.default_rng(seed)
    prices, details = ["offer,time,price"], ["offer,category,name,t_last"]
    for number in range(offers):
        born = MONDAY + (1.5 * DAY if number % 10 == 3 else 0.0)
        last = MONDAY + days * DAY - (1.25 * DAY if number % 10 == 7 else 0.0)
        step = 6 * HOUR if number % 2 else 100 * DAY
        prices += [
            f"o{number},{at:.0f},{rng.integers(1000, 1200) / 100}"
            for at in np.arange(born, last, step).tolist()
        ]
        details.append(
            f'o{number},{"tools" if number % 3 else "toys"},"Thing, no. {number}",{last:.0f}'
        )
    moments = ["t", *(f"{MONDAY + hour * HOUR:.0f}" for hour in range(days * 24 + 1))]
    paths = tuple(folder / name for name in ("shop.csv", "details.csv", "moments.csv"))
    for path, lines in zip(paths, (prices, details, moments), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def truth_of(spans: list[tuple[int, float, float, int]], *, until: float) -> Truth:
    """(offer, at, until_at, price_micros), offer by offer; captured every hour from 0."""
    offer, at, until_at, price = (np.array(column) for column in zip(*spans, strict=True))
    n_offers = int(offer.max()) + 1
    return Truth(
        urls=tuple(f"http://shop.test/offer/{number}" for number in range(n_offers)),
        sites=("shop.test",),
        site=np.zeros(n_offers, np.int64),
        weight=np.ones(n_offers),
        offer=offer.astype(np.int64),
        at=at.astype(np.float64),
        until_at=until_at.astype(np.float64),
        price_micros=price.astype(np.int64),
        captured_at=np.arange(0.0, until + 1.0, HOUR),
        between=HOUR,
    )
