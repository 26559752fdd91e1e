"""New pages first, then the pages unfetched for longest, within a cap per host and per site.

Model: none.  Priority of a page never fetched: the shallower and the earlier discovered the better; all of
these come before any page fetched already, which rank by `fetched_at`, oldest first.  The list is then cut
greedily: a page is taken while its host, its site and the whole still have room, so a full host gives its
place to the next page of another.
"""

import numpy as np
from numpy.typing import NDArray


def choose_new_first(
    *,
    fetched_at: NDArray[np.float64],
    depth: NDArray[np.int16],
    host: NDArray[np.int32],
    site: NDArray[np.int32],
    host_room: NDArray[np.int64],
    site_room: NDArray[np.int64],
    budget: int,
) -> NDArray[np.intp]:
    """Indices of the chosen pages, best first.  All columns have shape (n_pages,).

    `fetched_at` is 0 for a page never fetched.  `host_room[h]` and `site_room[s]` are what host h and site s
    can still take.
    """
    order = np.lexsort((np.arange(len(depth)), depth * (fetched_at == 0.0), fetched_at))
    order = order[_rank_within(host[order]) < host_room[host[order]]]
    order = order[_rank_within(site[order]) < site_room[site[order]]]
    return order[: max(0, budget)]


def _rank_within(group: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each element, how many before it have the same group."""
    by_group = np.argsort(group, kind="stable")
    ordered = group[by_group]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, len(ordered)])
    ranks = np.empty(len(group), np.int64)
    ranks[by_group] = np.arange(len(group)) - np.repeat(starts, sizes)
    return ranks
