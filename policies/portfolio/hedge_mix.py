"""A mix of strategies page by page: each proposes rates, the plan follows their weighted mean."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policies.portfolio.pulls import FloatArray, from_logs
from policies.refresh.filling import draw


@dataclass(frozen=True, slots=True)
class MixedPicks:
    """Pages drawn from a mix, with all that their rewards will need when they come."""

    pages: NDArray[np.intp]  # (n,)
    probability: FloatArray  # (n,) chance of the pick under the mix
    proposals: FloatArray  # (K, n) chance of the pick under each strategy
    stake: float  # what the tick was worth if every pick was of use: its common normaliser

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "MixedPicks":
        """Some of the picks, for rewards that arrive apart."""
        return replace(
            self,
            pages=self.pages[chosen],
            probability=self.probability[chosen],
            proposals=self.proposals[:, chosen],
        )


@dataclass(frozen=True, slots=True)
class HedgeMix:
    """Hedge over strategies, with importance-weighted rewards of single pages.

    weight_k = (1 - exploration) * w_k / sum(w) + exploration / K
    probability_i = sum_k weight_k * rate_ki, rate_ki what strategy k proposes for page i
    after pick i brought reward x_i:  log w_k += min(1, learning_rate * rate_ki / probability_i * x_i / stake)
    stake = sum_i probability_i * worth_i over all pages, worth_i the most x_i can be

    Summed over a tick this estimates, without bias, what strategy k would have earned alone: every
    pick teaches about every strategy that proposed it, where a bandit over whole ticks learns about
    one.  The stake is the same for every strategy; 000 Equation 2 divides by the strategy's own sum
    and so rewards precision, not gain.  It is an expectation over all pages because a sum over the
    picks cancels their worth when a tick has only one or two.  No single pick moves a weight by more
    than a factor e, or one lucky find of a heavy page would settle the matter for good.
    """

    log_weights: FloatArray  # (K,)
    learning_rate: float
    exploration: float

    @classmethod
    def start(cls, arms: int, *, learning_rate: float, exploration: float) -> "HedgeMix":
        return cls(np.zeros(arms), learning_rate, exploration)

    def weights(self) -> FloatArray:
        share = from_logs(self.log_weights)
        return (1.0 - self.exploration) * share + self.exploration / len(share)

    def pick(
        self, proposals: FloatArray, worth: FloatArray, rng: np.random.Generator
    ) -> MixedPicks:
        """Draw pages from the mix of the proposals, of shape (K, n_pages)."""
        mixed = np.minimum(self.weights() @ proposals, 1.0)
        pages = draw(mixed, rng)
        return MixedPicks(pages, mixed[pages], proposals[:, pages], float(mixed @ worth))

    def learn(self, picks: MixedPicks, rewards: FloatArray) -> "HedgeMix":
        """Rewards of these picks: a page's worth if the fetch was of use, else 0."""
        if picks.stake <= 0.0:
            return self
        gains = picks.proposals * (rewards / picks.probability / picks.stake)
        steps = np.minimum(self.learning_rate * gains, 1.0).sum(axis=1)
        return replace(self, log_weights=self.log_weights + steps)
