"""What a recording shows of its offers: each price and the span in which it held, as columns.  Pure."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Truth:
    """Prices hold in [at, until_at).  A recording knows them only at its own moments: `captured_at`.

    Offers have a number, the place of their URL.  Spans are sorted by offer and time.
    """

    urls: tuple[str, ...]
    sites: tuple[str, ...]
    site: Ints  # (n_offers,) place in `sites`
    weight: Floats  # (n_offers,) clicks or importance
    offer: Ints  # (n_spans,)
    at: Floats  # (n_spans,)
    until_at: Floats  # (n_spans,) the next price, or the end of the offer; inf when it was never seen to go
    price_micros: Ints  # (n_spans,)
    captured_at: Floats  # (n_moments,) ascending
    between: float  # seconds between two captures of an offer: the median

    @property
    def began_at(self) -> float:
        return float(self.captured_at[0])

    @property
    def ended_at(self) -> float:
        return float(self.captured_at[-1])

    @cached_property
    def is_first(self) -> NDArray[np.bool_]:
        """(n_spans,) Is it the first price of its offer?"""
        is_first: NDArray[np.bool_] = np.diff(self.offer, prepend=-1) != 0
        return is_first

    @cached_property
    def born_at(self) -> Floats:
        """(n_offers,) When the recording first shows the offer."""
        return self.at[self.is_first]

    @cached_property
    def gone_at(self) -> Floats:
        """(n_offers,)"""
        is_last = np.append(self.is_first[1:], True)
        gone_at: Floats = self.until_at[is_last]
        return gone_at

    @cached_property
    def number_of(self) -> dict[str, int]:
        """URL -> number of its offer."""
        return {url: number for number, url in enumerate(self.urls)}

    def live_spans(self, at: float) -> Ints:
        """The spans that hold at `at`."""
        return np.flatnonzero((self.at <= at) & (self.until_at > at))
