"""The calibration table counts every price once."""

import numpy as np

from benchmarks.calibration import judged, table


def test_every_price_is_in_its_tenth_and_in_the_sum() -> None:
    given, true = np.array([0.0, 0.05, 0.95, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    low, high, whole = table(given, true)
    assert (low["probability_valid"], low["prices"], low["true"]) == ("0.0 to 0.1", 2, 0.5)
    assert (high["probability_valid"], high["prices"], high["true"]) == ("0.9 to 1.0", 2, 1.0)
    assert (whole["prices"], whole["mean"], whole["true"]) == (4, 0.5, 0.75)


def test_prices_are_trusted_less_the_longer_nobody_looks() -> None:
    given, true = judged(share=0.1, offers=5, days=2.0, seed=1)
    at_end, a_day_later = np.split(given, 3)[0], np.split(given, 3)[2]
    assert (a_day_later < at_end).all()
    assert set(true.tolist()) <= {0.0, 1.0}
