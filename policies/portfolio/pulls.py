"""What a bandit over strategies offers: probabilities to draw an arm from, and learning from rewards."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pull:
    """An arm drawn for a tick.  The probability stays with it: its reward may come many ticks later,
    when the bandit's own probabilities are different ones."""

    arm: int
    probability: float


class Bandit(Protocol):
    """Rewards are within [0, 1] and may come late, in any order, or never."""

    def probabilities(self) -> FloatArray: ...

    def learn(self, pull: Pull, reward: float) -> Self: ...


def draw_arm(bandit: Bandit, rng: np.random.Generator) -> Pull:
    """An arm with the bandit's probabilities."""
    probabilities = bandit.probabilities()
    arm = int(rng.choice(len(probabilities), p=probabilities))
    return Pull(arm, float(probabilities[arm]))


def from_logs(log_weights: FloatArray) -> FloatArray:
    """Weights that sum to 1, from logarithms of any size."""
    weights = np.exp(log_weights - log_weights.max())
    shares: FloatArray = weights / weights.sum()
    return shares


def checked(reward: float) -> float:
    """A reward outside [0, 1] voids every bound below, so it is an error of the caller."""
    if not 0.0 <= reward <= 1.0:
        raise ValueError(f"reward: want within [0, 1], got {reward}")
    return reward
