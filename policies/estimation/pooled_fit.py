"""(al, b_1 ... b_K) of each host from its last fetches: the centre of its pages' prior.

Log-likelihood of a fetch: log(1 - exp(-x)) if changed, else -x, with x = al elapsed + sum b_k n_k; it is
concave.  Newton with the expected information, in logarithms so that parameters stay positive, on the
last RECENT fetches of a host, which also forgets how the host used to be.  The prior is worth LEAN
fetches and centred on the geometric mean of all hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RECENT = 256
LEAN = 2.0


@dataclass(frozen=True, slots=True)
class PooledFit:
    """Recent fetches, shape (hosts, RECENT) with features (elapsed, n_1 ...), and what they say."""

    parameters: Floats  # (hosts, 1 + kinds): al, b_1 ...
    features: Floats  # (hosts, RECENT, 1 + kinds); all 0 where there is no fetch yet
    changed: Bools  # (hosts, RECENT)
    fetches: Ints  # (hosts,) ever seen

    @classmethod
    def start(cls, hosts: int, *, kinds: int, rate: float, worth: float) -> PooledFit:
        guess = np.concatenate([[rate], np.full(kinds, worth)])
        return cls(
            parameters=np.tile(guess, (hosts, 1)),
            features=np.zeros((hosts, RECENT, 1 + kinds)),
            changed=np.zeros((hosts, RECENT), np.bool_),
            fetches=np.zeros(hosts, np.int64),
        )

    def remember(self, host: Ints, elapsed: Floats, signals: Floats, changed: Bools) -> PooledFit:
        """After a batch of fetches; signals have shape (batch, kinds).  Writes its columns in place."""
        order = np.argsort(host, kind="stable")
        host = host[order]
        within = np.arange(len(host)) - np.searchsorted(host, host)
        slot = (self.fetches[host] + within) % RECENT
        self.features[host, slot] = np.column_stack([elapsed, signals])[order]
        self.changed[host, slot] = changed[order]
        seen = np.bincount(host, minlength=len(self.fetches))
        return replace(self, fetches=self.fetches + seen)

    def refit(self, *, rounds: int = 4) -> PooledFit:
        """Newton from the present parameters."""
        logs = np.log(self.parameters)
        centre = np.exp(logs.mean(axis=0))
        for _ in range(rounds):
            logs = logs + np.clip(self._step(np.exp(logs), centre), -1.0, 1.0)
        return replace(self, parameters=np.exp(np.clip(logs, -40.0, 3.0)))

    def means(self) -> tuple[Floats, Floats]:
        """al (hosts,) and p = 1 - exp(-b), (hosts, kinds)."""
        return self.parameters[:, 0], -np.expm1(-self.parameters[:, 1:])

    def _step(self, theta: Floats, centre: Floats) -> Floats:
        hazard = np.einsum("hrk,hk->hr", self.features, theta)
        odds = 1 / np.expm1(np.clip(hazard, 1e-9, 700.0))
        slope = np.where(self.changed, odds, -1.0)
        gradient = np.einsum("hr,hrk->hk", slope, self.features) * theta
        scaled = self.features * theta[:, None, :]
        information = np.einsum("hr,hrj,hrk->hjk", odds, scaled, scaled)
        gradient += LEAN * (1 - theta / centre)
        information += LEAN * np.eye(theta.shape[1]) * np.maximum(theta / centre, 1.0)[:, :, None]
        step: Floats = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        return step
