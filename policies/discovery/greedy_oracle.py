"""The oracle of 004: GREEDY of Dasgupta et al. with perfect knowledge of what every source shows now.

Choice.  Repeat up to `budget` times: take the source whose links hold the most targets that are neither
known nor on a source already taken.  Greedy maximum coverage is within 1 - 1/e of the best set; it looks at
one tick only, so over a crawl it is a strong reference and not a bound.
"""

from collections.abc import Sequence

import numpy as np

from policies.discovery.exposure import Bools, Ints


def greedy_oracle(shown: Sequence[Ints], known: Bools, *, budget: int) -> Ints:
    """Sources in the order taken.  shown[u]: the targets linked from source u now; known: by target.

    A source's gain only falls as others are taken, so a stale gain is an upper bound: only sources at the
    top are counted again (lazy evaluation)."""
    covered = known.copy()
    gains = np.array([np.count_nonzero(~covered[targets]) for targets in shown])
    taken: list[int] = []
    while len(taken) < min(budget, len(shown)):
        best = int(np.argmax(gains))
        gain = np.count_nonzero(~covered[shown[best]])
        if gain < gains[best]:
            gains[best] = gain
            continue
        taken.append(best)
        covered[shown[best]] = True
        gains[best] = -1
    return np.array(taken, np.int64)
