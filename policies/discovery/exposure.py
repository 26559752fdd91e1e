"""How much publishing has a source had since its last fetch?  The clock that discovery runs on.

A source publishes `discovery_rate * profile[local hour]` links an hour and a link stays on it for an
exponential time of mean `expiry`, so what waits there for us is discovery_rate times

    exposure(age) = integral_0^age profile(local hour, s ago) * exp(-s / expiry) ds.

The profile is constant within an hour, so both integrals below are closed forms: no loop over hours,
no state between ticks, and a tick may be of any length.  The unit is the hour; only `now`, `..._at`
and `utc_offset` are seconds.  Arrays have shape (n,), or (n, 24) where they are by hour of day.
"""

import numpy as np
from numpy.typing import NDArray

HOURS = 24
SECONDS_PER_HOUR = 3600.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def local_clock(now: float, utc_offset: Floats) -> Floats:
    """Hours since local midnight, in [0, 24)."""
    clock: Floats = (now + utc_offset) / SECONDS_PER_HOUR % HOURS
    return np.where(clock < HOURS, clock, 0.0)  # -1e-20 % 24 is 24.0 in floating point


def local_hour(now: float, utc_offset: Floats) -> Ints:
    """The hour of the day, 0 to 23."""
    return local_clock(now, utc_offset).astype(np.int64)


def exposure(*, age: Floats, clock: Floats, profile: Floats, expiry: float) -> Floats:
    """Exposure after `age` hours when it is `clock` o'clock now; an infinite age gives the limit."""
    days = np.floor(age / HOURS)
    partial = np.fmod(np.where(np.isfinite(age), age, 0.0), HOURS)
    day = _recent(np.full_like(clock, HOURS), clock, profile, expiry)
    rest = _recent(partial, clock, profile, expiry)
    # Going back: `days` whole days, each dimmer by `decay` than the one after it, then the partial one.
    decay = np.exp(-HOURS / expiry)
    whole = day * -np.expm1(-HOURS * days / expiry) / (1.0 - decay)
    return np.asarray(whole + np.exp(-HOURS * days / expiry) * rest)


def exposure_by_hour(*, age: Floats, clock: Floats, expiry: float) -> Floats:
    """Exposure split by the hour of day it came from, under a flat profile: shape (n, 24)."""
    columns = [
        exposure(age=age, clock=clock, profile=indicator, expiry=expiry)
        for indicator in np.eye(HOURS)
    ]
    return np.stack(columns, axis=1)


def _recent(age: Floats, clock: Floats, profile: Floats, expiry: float) -> Floats:
    """The integral over the last `age` <= 24 hours: exp(-x/expiry) * (K(x) - K(x - age))."""
    end = clock + HOURS
    knots = np.exp(np.arange(2 * HOURS + 1) / expiry)
    two_days = np.concatenate((profile, profile))
    steps = expiry * two_days * np.diff(knots)
    cumulative = np.concatenate(([0.0], np.cumsum(steps)))

    def up_to(x: Floats) -> Floats:
        hour = np.minimum(x.astype(np.int64), 2 * HOURS - 1)
        inside = expiry * two_days[hour] * (np.exp(x / expiry) - knots[hour])
        return np.asarray(cumulative[hour] + inside)

    return np.asarray(np.exp(-end / expiry) * (up_to(end) - up_to(end - age)))
