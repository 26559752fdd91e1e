"""The refresh simulator against what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from policies.simulation.refresh import (
    Hearing,
    Observation,
    Pages,
    State,
    World,
    best,
    greedily,
    regular_slots,
    simulate,
)
from policies.values.greedy import greedy_value
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import Floats, PageModel
from policies.values.table import ValueTable


def signalled(n_pages: int, seed: int = 1) -> PageModel:
    rng = np.random.default_rng(seed)
    return PageModel.of(
        rng.uniform(0.1, 1, n_pages), rng.uniform(0.1, 1, n_pages), rng.uniform(0, 0.9, n_pages), 0.3
    )  # fmt: skip


def in_turn(n_pages: int) -> Pages:
    return np.arange(n_pages, dtype=np.intp)


def test_a_page_fetched_every_interval_is_fresh_for_the_known_share() -> None:
    model = PageModel.of(0.7)
    outcome = simulate(
        World(model),
        lambda now, state: in_turn(1),
        slots=regular_slots(2.0, 4000.0),
        edges=np.array([0.0, 4000.0]),
        rng=np.random.default_rng(0),
    )
    share = -np.expm1(-0.35) / 0.35
    assert outcome.expected[0] == pytest.approx(share, rel=1e-12)
    assert outcome.fresh[0] == pytest.approx(share, abs=0.01)
    assert outcome.fetches.sum() == 8000


def test_what_happened_and_what_was_expected_have_the_same_mean() -> None:
    model = signalled(40)
    value = ValueTable(model, greedy_ncis_value)
    runs = [
        simulate(
            World(model),
            greedily(value),
            slots=regular_slots(20.0, 60.0),
            edges=np.array([0.0, 30.0, 60.0]),
            rng=np.random.default_rng(seed),
        )
        for seed in range(8)
    ]
    differences = np.array([run.fresh - run.expected for run in runs])
    error = differences.std() / np.sqrt(differences.size)
    assert abs(differences.mean()) < 4 * error < 0.02


def test_blocks_of_events_and_windows_do_not_change_the_integral(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = PageModel.of([0.2, 0.9])

    def expected(edges: Floats) -> float:
        outcome = simulate(
            World(model),
            greedily(lambda elapsed, signals: greedy_value(model, elapsed)),
            slots=regular_slots(3.0, 40.0),
            edges=edges,
            rng=np.random.default_rng(5),
        )
        return float((outcome.expected * np.diff(outcome.edges)).sum())

    whole = expected(np.array([0.0, 40.0]))
    assert expected(np.linspace(0, 40, 14)) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr("policies.simulation.refresh.EVENTS_AT_ONCE", 3)
    assert expected(np.array([0.0, 40.0])) == pytest.approx(whole, rel=1e-12)


def test_fetches_report_elapsed_time_signals_and_whether_the_page_changed() -> None:
    model = PageModel.of([0.5] * 50, 1.0, 0.6, 0.2)
    seen: list[Observation] = []
    simulate(
        World(model),
        lambda now, state: in_turn(50),
        slots=np.arange(1.0, 401.0),
        edges=np.array([0.0, 400.0]),
        rng=np.random.default_rng(2),
        learn=seen.append,
    )
    elapsed = np.concatenate([o.elapsed for o in seen])
    signals = np.concatenate([o.signals for o in seen])
    changed = np.concatenate([o.changed for o in seen])
    np.testing.assert_array_equal(elapsed, 1.0)
    assert signals.mean() == pytest.approx(0.5, abs=0.02)
    for n in (0, 1, 2):  # P(changed) = 1 - exp(-alpha) (nu/gamma)^n
        fresh = np.exp(-0.2) * 0.4**n
        assert changed[signals == n].mean() == pytest.approx(1 - fresh, abs=0.03)


def test_the_same_seed_gives_every_policy_the_same_world() -> None:
    model = signalled(10)

    def changes(count: int) -> list[float]:
        seen: list[float] = []
        simulate(
            World(model),
            lambda now, state: in_turn(10)[:count],
            slots=np.arange(1.0, 101.0),
            edges=np.array([0.0, 50.0, 100.0]),
            rng=np.random.default_rng(7),
            learn=lambda observation: seen.append(float(observation.changed[0])),
        )
        return seen

    assert changes(1) == changes(10)


def test_a_host_is_never_asked_within_its_delay_and_lost_picks_are_counted() -> None:
    model = signalled(12)
    host = np.arange(12) % 3
    delay = np.array([0.5, 1.0, 4.0])
    at: list[tuple[float, int]] = []
    outcome = simulate(
        World(model, host=host, host_delay=delay),
        lambda now, state: best(greedy_value(model, now - state.fetched_at), 2),
        slots=regular_slots(4.0, 100.0),
        edges=np.array([0.0, 100.0]),
        rng=np.random.default_rng(7),
        learn=lambda o: at.extend((o.now, int(host[page])) for page in o.pages),
    )
    for name in range(3):
        gaps = np.diff([when for when, which in at if which == name])
        assert gaps.min() >= delay[name] - 1e-6
    assert outcome.refused == 2 * 400 - outcome.fetches.sum() > 0


def test_choosing_among_ready_hosts_loses_no_pick() -> None:
    model = signalled(12)
    outcome = simulate(
        World(model, host=np.arange(12) % 3, host_delay=np.full(3, 1.0)),
        greedily(lambda elapsed, signals: greedy_value(model, elapsed)),
        slots=regular_slots(4.0, 100.0),
        edges=np.array([0.0, 100.0]),
        rng=np.random.default_rng(7),
    )
    assert outcome.refused == 0
    assert outcome.fetches.sum() == pytest.approx(300, abs=3)


def test_late_signals_are_heard_late_and_can_be_ignored_by_their_stamp() -> None:
    model = PageModel.of([1e-9] * 20, 1.0, 0.0, 1.0)
    world = World(model, signal_delay=lambda rng, count: np.full(count, 5.0))

    def heard(hearing: Hearing | None) -> float:
        total: list[float] = []
        simulate(
            world,
            lambda now, state: in_turn(20),
            slots=np.arange(3.0, 301.0, 3.0),
            edges=np.array([0.0, 150.0, 300.0]),
            rng=np.random.default_rng(3),
            learn=lambda o: total.append(float(o.signals.sum())),
            hearing=hearing,
        )
        return sum(total) / 20 / 300

    assert heard(None) == pytest.approx(295 / 300, abs=0.05)
    assert heard(Hearing(ignore_within=1.0)) == pytest.approx(2 / 3, abs=0.05)
    assert heard(Hearing(by_stamp=True)) == 0


@pytest.mark.parametrize("delay", [0.0, 5.0])
def test_no_signal_is_lost_between_windows(delay: float) -> None:
    heard: list[float] = []
    simulate(
        World(
            PageModel.of([1e-9] * 20, 1.0, 0.0, 1.0),
            signal_delay=lambda rng, count: np.full(count, delay),
        ),
        lambda now, state: in_turn(20),
        slots=np.arange(3.0, 301.0, 3.0),
        edges=np.linspace(0.0, 300.0, 212),
        rng=np.random.default_rng(3),
        learn=lambda o: heard.append(float(o.signals.sum())),
    )
    assert sum(heard) / 20 == pytest.approx(300 - delay, abs=15)


def test_state_tells_which_pages_may_be_fetched() -> None:
    state = State(np.zeros(3), np.zeros(3), np.array([0.0, 2.0]), np.array([0, 1, 1]))
    ready = state.ready(1.0)
    assert ready is not None
    np.testing.assert_array_equal(ready, [True, False, False])
    np.testing.assert_array_equal(best(np.array([1.0, 5.0, 9.0]), 2, ready), [0])
