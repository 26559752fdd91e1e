"""What is known of each page: how it changes, what its signals are worth, how much it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PageModel:
    """Poisson pages with noisy signals (003, sec. 3).  Every column has shape (n_pages,).

    A page changes at `change_rate` (Delta).  A change is signalled with probability `signal_recall`
    (lambda); false signals come at `false_signal_rate` (nu); requests at `importance` (mu).
    """

    change_rate: Floats
    importance: Floats
    signal_recall: Floats
    false_signal_rate: Floats

    @classmethod
    def of(
        cls,
        change_rate: ArrayLike,
        importance: ArrayLike = 1.0,
        signal_recall: ArrayLike = 0.0,
        false_signal_rate: ArrayLike = 0.0,
    ) -> PageModel:
        """Columns from anything that broadcasts; without signals unless told otherwise."""
        columns = np.broadcast_arrays(change_rate, importance, signal_recall, false_signal_rate)
        return cls(*(np.atleast_1d(np.asarray(column, dtype=np.float64)) for column in columns))

    def __len__(self) -> int:
        return len(self.change_rate)

    def take(self, pages: NDArray[np.intp] | NDArray[np.bool_] | slice) -> PageModel:
        """The rows of these pages."""
        return PageModel(
            self.change_rate[pages],
            self.importance[pages],
            self.signal_recall[pages],
            self.false_signal_rate[pages],
        )

    def believing(
        self, *, signal_recall: float | None = None, false_signal_rate: float
    ) -> PageModel:
        """The same pages seen by a policy that takes its signals for better or worse than they are."""
        recall = self.signal_recall
        if signal_recall is not None:
            recall = np.full_like(recall, signal_recall)
        return replace(
            self,
            signal_recall=recall,
            false_signal_rate=np.full_like(self.false_signal_rate, false_signal_rate),
        )

    @property
    def unsignalled_rate(self) -> Floats:
        """alpha = (1 - recall) Delta; 1 - recall is exact in floating point near recall = 1."""
        return (1.0 - self.signal_recall) * self.change_rate

    @property
    def signal_rate(self) -> Floats:
        """gamma = recall Delta + nu."""
        return self.signal_recall * self.change_rate + self.false_signal_rate

    @property
    def signal_worth(self) -> Floats:
        """b = log(gamma / nu): nats of freshness one signal takes away; infinite without false signals.

        The paper's beta is b / alpha; it is never formed, since alpha may be 0.
        """
        true_signals = self.signal_recall * self.change_rate
        return odds_to_nats(true_signals, self.false_signal_rate)


def odds_to_nats(true_rate: Floats, false_rate: Floats) -> Floats:
    """log(1 + true / false), 0 where there is nothing true, infinite where nothing is false."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds = np.where(true_rate > 0, true_rate / false_rate, 0.0)
        # Beyond the largest double the logarithm of the quotient is still an ordinary number.
        far = np.log(true_rate) - np.log(false_rate)
    return np.where(np.isinf(odds), far, np.log1p(odds))


def lost_nats(model: PageModel, elapsed: ArrayLike, signals: ArrayLike) -> Floats:
    """u = alpha tau + b n = -log P(fresh), for `elapsed` time and `signals` since the last fetch."""
    return times(model.unsignalled_rate, np.asarray(elapsed, dtype=np.float64)) + times(
        model.signal_worth, np.asarray(signals, dtype=np.float64)
    )


def fresh_probability(model: PageModel, elapsed: ArrayLike, signals: ArrayLike = 0.0) -> Floats:
    """P(fresh) = exp(-alpha tau) (nu / gamma)^n (003, eq. 1)."""
    return np.asarray(np.exp(-lost_nats(model, elapsed, signals)))


def times(rate: Floats, amount: Floats) -> Floats:
    """rate * amount where nothing times anything, even for ever, is nothing."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((rate == 0) | (amount == 0), 0.0, rate * amount)
