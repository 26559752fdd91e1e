"""kill -9 at any moment, the same command again: nothing is lost, hardly anything is fetched twice."""

import random
import signal
import subprocess
import time
from pathlib import Path

from tests.fakes import offer_page, page
from tests.processes import FAST, Site, rows, run, served, start

PAGES = 2_000
LISTS = 50
KILLS = 20
SLOTS = 8
COMMAND = (
    *("run", "--once", "--database", "crawl.db", *FAST),
    *("--set", f"politeness.slots={SLOTS}", "--set", f"politeness.per_host={SLOTS}"),
)
# Each says that something which must not be there is there.
INCONSISTENCIES = {
    "a price without its fetch": "SELECT * FROM price WHERE fetch_id NOT IN (SELECT id FROM fetch)",
    "a price without its offer": "SELECT * FROM price WHERE offer_id NOT IN (SELECT id FROM offer)",
    "an offer without a price": "SELECT * FROM offer WHERE id NOT IN (SELECT offer_id FROM price)",
    "an offer without its page": "SELECT * FROM offer WHERE page_id NOT IN (SELECT id FROM page)",
    "a state without a fetch or a refusal": (
        "SELECT * FROM page_state WHERE outcome != 'robots'"
        " AND page_id NOT IN (SELECT page_id FROM fetch)"
    ),
    "a state that miscounts its fetches": (
        "SELECT * FROM page_state WHERE fetches !="
        " (SELECT count(*) FROM fetch WHERE fetch.page_id = page_state.page_id)"
    ),
    "a fetch without its page": "SELECT * FROM fetch WHERE page_id NOT IN (SELECT id FROM page)",
    "a fetch without its tick": "SELECT * FROM fetch WHERE tick_id NOT IN (SELECT id FROM tick)",
    "a tick without its run": "SELECT * FROM tick WHERE run_id NOT IN (SELECT id FROM run)",
    "a page without its host": "SELECT * FROM page WHERE host_id NOT IN (SELECT id FROM host)",
    "a page without its pattern": (
        "SELECT * FROM page WHERE pattern_id NOT IN (SELECT id FROM pattern)"
    ),
    "a page without its site": "SELECT * FROM page WHERE site_id NOT IN (SELECT id FROM site)",
    "a page without its source": (
        "SELECT * FROM page WHERE source_id IS NOT NULL AND source_id NOT IN (SELECT id FROM page)"
    ),
    "a page known twice": "SELECT url FROM page GROUP BY url HAVING count(*) > 1",
}


def big_shop() -> dict[str, str]:
    """2,000 pages: a home page, 50 lists, and the offers shared out among them."""
    lamps = [f"/lamp/{n}" for n in range(PAGES - LISTS - 1)]
    lists = {f"/list/{n}": page(*lamps[n::LISTS], title=f"List {n}") for n in range(LISTS)}
    offers = {path: offer_page(f"{n + 1}.50", name=f"Lamp {n}") for n, path in enumerate(lamps)}
    return {"/": page(*lists, title="Home"), **lists, **offers}


def fetches(database: Path) -> int:
    known = database.exists() and rows(database, "SELECT 1 FROM sqlite_schema WHERE name = 'fetch'")
    return int(str(rows(database, "SELECT count(*) FROM fetch")[0][0])) if known else 0


def wait_for_visits(site: Site, visits: int, crawler: subprocess.Popen[str]) -> None:
    while site.page_visits < visits and crawler.poll() is None:
        time.sleep(0.001)


def test_twenty_kills_lose_no_page_and_repeat_only_what_was_in_flight(tmp_path: Path) -> None:
    chance = random.Random(20)
    database = tmp_path / "crawl.db"
    # Two kills while the process or its database is just being made, the others between two answers.
    moments = [0, 0, *sorted(chance.sample(range(1, PAGES - 200), KILLS - 2))]
    with served(big_shop()) as site:
        command = (*COMMAND, site.url + "/")
        for moment in moments:
            stored, asked = fetches(database), site.page_visits
            crawler = start(*command, folder=tmp_path)
            wait_for_visits(site, max(moment, asked + 1) if moment else 0, crawler)
            time.sleep(chance.uniform(0.0, 0.4 if moment == 0 else 0.04))
            answered = site.page_visits - asked
            crawler.kill()
            crawler.communicate()
            assert crawler.returncode == -signal.SIGKILL
            assert answered - (fetches(database) - stored) <= SLOTS
        last = run(*command, folder=tmp_path)
        assert last.returncode == 0, last.stderr
        assert "every known page was fetched" in last.stderr

    assert set(site.visits) - {"/robots.txt"} == set(site.pages)
    assert 0 < site.page_visits - PAGES <= KILLS * SLOTS  # 0 would mean that no kill hit anything
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    found = {name: rows(database, query) for name, query in INCONSISTENCIES.items()}
    assert {name: bad[:3] for name, bad in found.items() if bad} == {}
    assert rows(database, "SELECT count(*), min(fetches), max(fetches) FROM page_state") == [
        (PAGES, 1, 1)
    ]
    assert rows(database, "SELECT count(*) FROM price") == [(PAGES - LISTS - 1,)]
    assert len(rows(database, "SELECT * FROM run WHERE ended_at IS NULL")) >= KILLS - 2
