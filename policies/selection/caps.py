"""Choose the best pages that hosts can take: caps, floors and deadlines on one ranked list."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def rank_within(group: npt.NDArray[np.integer], priority: Floats) -> Ints:
    """Place of each item among those of its group, the highest priority being 0."""
    order = np.lexsort((-priority, group))
    sorted_group = group[order]
    first = np.flatnonzero(np.append(True, sorted_group[1:] != sorted_group[:-1]))
    sizes = np.diff(np.append(first, len(order)))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(first, sizes)
    return rank


def best_under_caps(
    value: Floats,
    budget: int,
    *,
    lead: Bools,
    host: npt.NDArray[np.integer],
    host_cap: npt.NDArray[np.integer] | None,
) -> Ints:
    """Indexes of at most `budget` items: those that `lead` before all others, then the best.

    No host gets more than its cap: a slot goes to the best page among hosts that can take it, so a
    busy host delays its own pages only and no slot is lost to it.
    """
    leading = lead.any()
    place = np.where(lead, np.inf, value) if leading else value
    allowed = np.arange(len(value))
    if host_cap is not None:
        allowed = np.flatnonzero(rank_within(host, place) < host_cap[host])
    if len(allowed) > budget and not leading:
        allowed = allowed[np.argpartition(-value[allowed], budget - 1)[:budget]]
    return allowed[np.lexsort((-value[allowed], ~lead[allowed]))[:budget]]
