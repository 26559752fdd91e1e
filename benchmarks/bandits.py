"""Regret of the EXP3 family against textbook adversaries, beside its bounds."""

import pathlib
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, mean_and_error, show
from policies.portfolio.exp3 import Exp3, exploration_for
from policies.portfolio.exp3_ix import Exp3IX
from policies.portfolio.exp3_plus_plus import Exp3PlusPlus
from policies.portfolio.pulls import Bandit, draw_arm

FloatArray = NDArray[np.float64]


def steady(arms: int, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Coins: the last arm pays with probability 0.6, the others 0.4."""
    chance = np.full(arms, 0.4)
    chance[-1] = 0.6
    return (rng.random((rounds, arms)) < chance).astype(np.float64)


def switching(arms: int, rounds: int, rng: np.random.Generator) -> FloatArray:
    """The first arm pays 0.6 for a third of the time and then nothing; the second takes over at 0.8."""
    rewards = np.full((rounds, arms), 0.3)
    rewards[: rounds // 3, 0], rewards[rounds // 3 :, 0] = 0.6, 0.0
    rewards[: rounds // 3, 1], rewards[rounds // 3 :, 1] = 0.1, 0.8
    return rewards


def teasing(arms: int, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Arms pay 1 in turn for blocks of doubling length, so that whoever led is behind; one is a
    little better throughout."""
    rewards = np.zeros((rounds, arms))
    block = np.log2(np.arange(rounds) + 1.0).astype(int) % arms
    rewards[np.arange(rounds), block] = 0.9
    rewards[:, -1] = np.maximum(rewards[:, -1], rng.random(rounds) < 0.45)
    return rewards


Adversary = Callable[[int, int, np.random.Generator], FloatArray]
ADVERSARIES: dict[str, Adversary] = {
    "steady": steady,
    "switching": switching,
    "teasing": teasing,
}
BANDITS: dict[str, Callable[[int, int], Bandit]] = {
    "EXP3": lambda arms, rounds: Exp3.start(arms, exploration=exploration_for(arms, rounds)),
    "EXP3-IX": lambda arms, rounds: Exp3IX.start(arms),
    "EXP3++": lambda arms, rounds: Exp3PlusPlus.start(arms),
}


def regrets(
    bandit: str, adversary: str, *, arms: int, rounds: int, runs: int, seed: int
) -> FloatArray:
    """Reward of the best arm in hindsight minus the bandit's, one number a run."""
    result = np.empty(runs)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        rewards = ADVERSARIES[adversary](arms, rounds, rng)
        state, earned = BANDITS[bandit](arms, rounds), 0.0
        for t in range(rounds):
            pull = draw_arm(state, rng)
            reward = float(rewards[t, pull.arm])
            state, earned = state.learn(pull, reward), earned + reward
        result[run] = rewards.sum(axis=0).max() - earned
    return result


def bound(bandit: str, *, arms: int, rounds: int) -> float:
    """What theory guarantees of the mean regret (EXP3-IX: integrated over its confidence)."""
    spread, logs = np.sqrt(arms * rounds), np.log(arms)
    if bandit == "EXP3":
        return float(2.0 * np.sqrt(np.e - 1.0) * spread * np.sqrt(logs))
    if bandit == "EXP3-IX":  # the mean of ln(2 / d) over d uniform in (0, 1) is 1 + ln 2
        high_probability = (2.0 * spread / np.sqrt(logs) + 1.0) * (1.0 + np.log(2.0))
        return float(4.0 * spread * np.sqrt(logs) + high_probability)
    return float(4.0 * spread * np.sqrt(logs))


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--arms", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    size = {"arms": args.arms, "rounds": args.rounds}
    rows: list[Row] = []
    for adversary in ADVERSARIES:
        for bandit in BANDITS:
            measured = regrets(bandit, adversary, **size, runs=args.runs, seed=args.seed)
            mean, error = mean_and_error(measured)
            rows.append(
                {
                    "adversary": adversary,
                    "bandit": bandit,
                    "regret": mean,
                    "s.e.": error,
                    "worst run": float(measured.max()),
                    "bound": bound(bandit, **size),
                }
            )
    show(rows, as_json=args.json)


if __name__ == "__main__":
    main()
