"""Forgetting by events: a page's own rate rests on its last so many changes.

Model: habits last for a while.  Update: when a page has shown more than `most` changes, its history is cut
to the share that holds the newest of them,

    first_seen = changed - (changed - first_seen) * most / changes,   changes = most

so its mean interval stays what it was, and each later change weighs 1 / most.  A page whose rate jumps by
any factor is followed within about `most` changes; a longer memory would average two habits.
"""

from dataclasses import replace

import numpy as np

from policies.values.clock import ClockPages


def keep_last_changes(pages: ClockPages, most: int) -> ClockPages:
    """The same pages with at most `most` changes remembered."""
    over = pages.changes > most
    share = np.where(over, most / np.maximum(pages.changes, 1), 1.0)
    return replace(
        pages,
        first_seen_at=pages.changed_at - (pages.changed_at - pages.first_seen_at) * share,
        changes=np.minimum(pages.changes, most).astype(np.int32),
    )
