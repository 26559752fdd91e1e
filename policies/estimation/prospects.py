"""What the first fetch of a page may bring, by the shape of its URL.

Model.  Pages of one URL pattern are of one kind.  A first fetch yields 1 if the page holds an offer, plus a
tenth for each new page it shows, at most 2.  The mean yield of pattern p at site s is shrunk to the site's,
    prospect_p = (sum yield_p + strength * prospect_s) / (fetches_p + strength),   strength 2
and the site's to 0.5 in the same way, so unknown shapes of a good site are tried first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTH = 2.0
FIRST_GUESS = 0.5
PER_NEW_PAGE = 0.1
MOST_YIELD = 2.0


def first_yield(*, is_offer: NDArray[np.bool_], discovered: Ints) -> Floats:
    """What each first fetch brought."""
    return np.minimum(is_offer + PER_NEW_PAGE * discovered, MOST_YIELD)


@dataclass(frozen=True, slots=True)
class Prospects:
    """Yields and first fetches per pattern (n_patterns,) and per site (n_sites,)."""

    pattern_yield: Floats
    pattern_fetches: Floats
    site_yield: Floats
    site_fetches: Floats

    @classmethod
    def start(cls) -> Prospects:
        none = np.zeros(0)
        return cls(none, none, none, none)

    def of(self, *, pattern: Ints, site: Ints) -> Floats:
        """The prospect of each page."""
        known = self._grown(pattern, site)
        by_site = (known.site_yield + STRENGTH * FIRST_GUESS) / (known.site_fetches + STRENGTH)
        earned = known.pattern_yield[pattern] + STRENGTH * by_site[site]
        return np.asarray(earned / (known.pattern_fetches[pattern] + STRENGTH))

    def observe(self, *, pattern: Ints, site: Ints, yielded: Floats) -> Prospects:
        known = self._grown(pattern, site)
        patterns, sites = len(known.pattern_yield), len(known.site_yield)
        return Prospects(
            known.pattern_yield + np.bincount(pattern, yielded, patterns),
            known.pattern_fetches + np.bincount(pattern, minlength=patterns),
            known.site_yield + np.bincount(site, yielded, sites),
            known.site_fetches + np.bincount(site, minlength=sites),
        )

    def _grown(self, pattern: Ints, site: Ints) -> Prospects:
        patterns = max(0, int(pattern.max(initial=-1)) + 1 - len(self.pattern_yield))
        sites = max(0, int(site.max(initial=-1)) + 1 - len(self.site_yield))
        return replace(
            self,
            pattern_yield=np.pad(self.pattern_yield, (0, patterns)),
            pattern_fetches=np.pad(self.pattern_fetches, (0, patterns)),
            site_yield=np.pad(self.site_yield, (0, sites)),
            site_fetches=np.pad(self.site_fetches, (0, sites)),
        )
