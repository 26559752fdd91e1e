"""EXP3++: one bandit for adversaries and for steady arms alike (Seldin and Lugosi 2017)."""

from dataclasses import dataclass

import numpy as np

from policies.portfolio.pulls import FloatArray, Pull, checked, from_logs

CONFIDENCE = 3.0  # alpha of the paper
EXPLORATION = 256.0  # beta of the paper


@dataclass(frozen=True, slots=True)
class Exp3PlusPlus:
    """Exponential weights, with exploration of each arm by the gap it shows to the best one.

    At round t = rewards learned + 1:  rate = sqrt(ln K / (t K)) / 2
    explore_k = min(1 / (2 K), rate, 256 ln t / (t gap_k^2))
    probability_k = (1 - sum(explore)) * w_k / sum(w) + explore_k, w_k = exp(-rate * loss_k)
    after reward x of pulled arm k:  loss_k += (1 - x) / probability_k

    gap_k is the distance between the lower confidence bound of arm k's mean loss and the least upper
    one, at width sqrt(3 ln(t K^(1/3)) / (2 pulls_k)).  Regret is at most 4 sqrt(K T ln K) against any
    adversary, and logarithmic in T when the arms' means stand still.
    """

    losses: FloatArray  # (K,) estimated sums, for the weights
    seen_losses: FloatArray  # (K,) plain sums over own pulls, for the gaps
    pulls: FloatArray  # (K,) rewards that arrived

    @classmethod
    def start(cls, arms: int) -> "Exp3PlusPlus":
        return cls(np.zeros(arms), np.zeros(arms), np.zeros(arms))

    @property
    def round(self) -> float:
        return float(self.pulls.sum()) + 1.0

    def probabilities(self) -> FloatArray:
        arms = len(self.losses)
        rate = 0.5 * np.sqrt(np.log(arms) / (self.round * arms))
        needed = (
            EXPLORATION * np.log(self.round) / (self.round * np.maximum(self.gaps(), 1e-6) ** 2)
        )
        explore = np.minimum(min(0.5 / arms, rate), needed)
        share = from_logs(-rate * self.losses)
        probabilities: FloatArray = (1.0 - explore.sum()) * share + explore
        return probabilities

    def gaps(self) -> FloatArray:
        """How much worse each arm is than the best one, as far as that is certain."""
        pulled = np.maximum(self.pulls, 1.0)
        mean = self.seen_losses / pulled
        log_term = CONFIDENCE * np.log(self.round) + np.log(len(pulled))
        width = np.where(self.pulls > 0, np.sqrt(log_term / (2.0 * pulled)), 1.0)
        lower, upper = np.maximum(mean - width, 0.0), np.minimum(mean + width, 1.0)
        gaps: FloatArray = np.maximum(lower - upper.min(), 0.0)
        return gaps

    def learn(self, pull: Pull, reward: float) -> "Exp3PlusPlus":
        loss = 1.0 - checked(reward)
        one = np.zeros(len(self.losses))
        one[pull.arm] = 1.0
        return Exp3PlusPlus(
            self.losses + one * (loss / pull.probability),
            self.seen_losses + one * loss,
            self.pulls + one,
        )
