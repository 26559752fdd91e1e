"""EXP3, the bandit of 000 Algorithm 1."""

from dataclasses import dataclass, replace

import numpy as np

from policies.portfolio.pulls import FloatArray, Pull, checked, from_logs


@dataclass(frozen=True, slots=True)
class Exp3:
    """Exponential weights with a share of uniform exploration (gamma).

    probability_k = (1 - exploration) * w_k / sum(w) + exploration / K
    after reward x of pulled arm k:  log w_k += exploration / K * x / probability_k

    Algorithm 1 prints the probability of the pulled arm as q_i.  Weights are kept as logarithms: in
    plain floats they overflow after about 700 K / exploration rewards.  Regret in expectation is at
    most (e - 1) * exploration * G + K ln K / exploration, G the reward of the best arm.
    """

    log_weights: FloatArray  # (K,)
    exploration: float

    @classmethod
    def start(cls, arms: int, *, exploration: float) -> "Exp3":
        return cls(np.zeros(arms), exploration)

    def probabilities(self) -> FloatArray:
        share = from_logs(self.log_weights)
        return (1.0 - self.exploration) * share + self.exploration / len(share)

    def learn(self, pull: Pull, reward: float) -> "Exp3":
        log_weights = self.log_weights.copy()
        step = self.exploration / len(log_weights)
        log_weights[pull.arm] += step * checked(reward) / pull.probability
        return replace(self, log_weights=log_weights)


def exploration_for(arms: int, rounds: int) -> float:
    """The exploration with the least guaranteed regret when the rounds are known beforehand."""
    return float(min(1.0, np.sqrt(arms * np.log(arms) / ((np.e - 1.0) * rounds))))
