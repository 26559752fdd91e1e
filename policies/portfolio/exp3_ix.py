"""EXP3-IX: exploration by a bias in the estimate instead of by forced pulls (Neu 2015)."""

from dataclasses import dataclass

import numpy as np

from policies.portfolio.pulls import FloatArray, Pull, checked, from_logs


@dataclass(frozen=True, slots=True)
class Exp3IX:
    """Exponential weights over losses whose estimates are biased towards zero.

    At round t = rewards learned + 1:  rate = sqrt(ln K / (K t)), bias = rate / 2
    probability_k = w_k / sum(w), w_k = exp(-rate * loss_k)
    after reward x of pulled arm k:  loss_k += (1 - x) / (probability_k + bias)

    Needs no horizon and no exploration parameter.  With probability 1 - d the regret after T rounds
    is at most 4 sqrt(K T ln K) + (2 sqrt(K T / ln K) + 1) ln(2 / d).
    """

    losses: FloatArray  # (K,) estimated sums
    learned: int  # rewards so far

    @classmethod
    def start(cls, arms: int) -> "Exp3IX":
        return cls(np.zeros(arms), 0)

    @property
    def rate(self) -> float:
        arms = len(self.losses)
        return float(np.sqrt(np.log(arms) / (arms * (self.learned + 1))))

    def probabilities(self) -> FloatArray:
        return from_logs(-self.rate * self.losses)

    def learn(self, pull: Pull, reward: float) -> "Exp3IX":
        losses = self.losses.copy()
        losses[pull.arm] += (1.0 - checked(reward)) / (pull.probability + 0.5 * self.rate)
        return Exp3IX(losses, self.learned + 1)
