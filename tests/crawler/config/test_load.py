"""From file, environment and flags to a Config, or to every fault at once."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from crawler.config import (
    Config,
    ConfigError,
    Duration,
    Loaded,
    live_run_faults,
    load_config,
    sites_from_urls,
)
from crawler.config.keys import setting_types, variable
from crawler.config.load import build, from_flags


def load(
    path: Path | None = None,
    environment: dict[str, str] | None = None,
    flags: dict[str, str] | None = None,
) -> Loaded:
    return load_config(path, environment=environment or {}, flags=flags or {})


def faults(
    text: str,
    tmp_path: Path,
    environment: dict[str, str] | None = None,
    flags: dict[str, str] | None = None,
) -> list[str]:
    """The complaints about a file, named config.toml whatever its directory."""
    path = write(text, tmp_path)
    with pytest.raises(ConfigError) as caught:
        load(path, environment, flags)
    return [str(fault).replace(str(path), "config.toml") for fault in caught.value.faults]


def write(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def test_without_a_file_everything_is_default() -> None:
    loaded = load()
    assert loaded.config == Config()
    assert set(loaded.origins.values()) == {"default"}


def test_flag_goes_before_environment_before_file_before_default(tmp_path: Path) -> None:
    path = write('[politeness]\ndelay = "3s"\nslots = 3\nper_host = 3\n', tmp_path)
    environment = {"FRESHET_POLITENESS__DELAY": "4s", "FRESHET_POLITENESS__SLOTS": "4"}
    loaded = load(path, environment, {"politeness.delay": "5s"})
    politeness = loaded.config.politeness
    assert (politeness.delay, politeness.slots, politeness.per_host) == (5.0, 4, 3)
    assert loaded.origins["politeness.delay"] == "flag"
    assert loaded.origins["politeness.slots"] == "environment FRESHET_POLITENESS__SLOTS"
    assert loaded.origins["politeness.per_host"] == f"{path}:4"
    assert loaded.origins["politeness.adaptive"] == "default"


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = """
[politeness]
delay = 0.2
per_hst = 1
[fetch]
connect_timeout = "2m"
max_body = "8 megs"
allow_networks = ["127.0.0.1/8"]
[[site]]
start = ["ftp://shop.example/"]
include = ["("]
[[site]]
curency = "EUR"
"""
    environment = {"FRESHET_FETCH__UVLOOP": "maybe", "FRESHET_POLITENESS_DELAY": "1s"}
    expected = {
        'config.toml:3: politeness.delay: want a duration such as "2s", got 0.2; write "0.2s" if seconds are meant',
        "config.toml:4: politeness.per_hst: unknown key; did you mean politeness.per_host?",
        'config.toml:5: fetch.total_timeout: want at least connect_timeout (2m), got "1m"',
        'config.toml:7: fetch.max_body: want a size such as "8MB", got "8 megs"; units are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB',
        'config.toml:8: fetch.allow_networks.0: want a network such as "127.0.0.0/8", got "127.0.0.1/8"',
        'config.toml:10: site.0.start.0: want an http or https URL such as "https://shop.example/", got "ftp://shop.example/"',
        'config.toml:11: site.0.include.0: want a regular expression, got "("',
        "config.toml:12: site.1.start: want a value, got nothing",
        "config.toml:13: site.1.curency: unknown key; did you mean site.1.currency?",
        'environment FRESHET_FETCH__UVLOOP: fetch.uvloop: want true or false, got "maybe"',
        "environment FRESHET_POLITENESS_DELAY: unknown variable; did you mean FRESHET_POLITENESS__DELAY?",
        "flag: crawl.delay: unknown key; did you mean politeness.delay?",
    }
    assert set(faults(text, tmp_path, environment, {"crawl.delay": "1s"})) == expected


WRONG = {
    "crawl.seed": "seed = 1.5",
    "politeness.slots": 'slots = "4"',
    "fetch.max_body": "max_body = 8",
    "robots.ttl": 'ttl = "48h"',
    "reading.change": 'change = "all"',
    "log.level": "level = 3",
    "budget.per_day": "per_day = 0",
}


@given(st.sets(st.sampled_from(sorted(WRONG)), min_size=1))
def test_no_fault_hides_another(wrong: set[str]) -> None:
    tables = (f"[{path.split('.')[0]}]\n{WRONG[path]}\n" for path in wrong)
    tree = tomllib.loads("".join(tables))
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(tree)
    assert {".".join(map(str, error["loc"])) for error in caught.value.errors()} == wrong


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('delay = "2s"', "politeness.delay"),
        ("[politness]\nslots = 1", "politeness"),
        ("[crawl]\ndatabse = 'x'", "crawl.database"),
        ("[politeness]\ncookies = true", None),
        ("[robots]\nmax_body = '1MB'", "fetch.max_body"),
        ("[robots]\nmax_sizes = '1MB'", "robots.max_size"),
        ("[fetch]\ntotal_timout = '1s'", "fetch.total_timeout"),
        ("[[sites]]\nstart = ['https://shop.example/']", "site"),
        (
            "[[site]]\nstart = ['https://shop.example/']\nbudget = {per_hr = 1}",
            "site.0.budget.per_hour",
        ),
    ],
)
def test_an_unknown_key_is_answered_with_the_one_meant(
    text: str, meant: str | None, tmp_path: Path
) -> None:
    [fault] = faults(text, tmp_path)
    assert fault.endswith(f"unknown key; did you mean {meant}?" if meant else "unknown key")


def test_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    [fault] = faults("[crawl]\nseed = = 1\n", tmp_path)
    assert fault.startswith("config.toml: not TOML: ")
    assert "line 2" in fault


def test_a_number_too_long_to_read_is_a_fault_of_the_file(tmp_path: Path) -> None:
    [fault] = faults(f"[crawl]\nseed = {'1' * 5000}\n", tmp_path)
    assert fault.startswith("config.toml: not TOML: ")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert load(write("\ufeff[crawl]\nseed = 3\n", tmp_path)).config.crawl.seed == 3


def test_a_flag_for_what_is_no_table_leaves_the_fault_of_the_file(tmp_path: Path) -> None:
    flags = {"site.0.budget.per_hour": "1", "politeness.delay": "1s"}
    found = faults("politeness = 3\nsite = [[1]]\n", tmp_path, flags=flags)
    assert found == [
        "config.toml:1: politeness: want a table of settings, got 3",
        "config.toml:2: site.0: want a table of settings, got [1]",
    ]


def test_a_long_value_is_cut_in_the_complaint(tmp_path: Path) -> None:
    [fault] = faults(f"[crawl]\nseed = '{'x' * 500}'\n", tmp_path)
    assert fault.endswith("xxx...")
    assert len(fault) < 200


def test_a_missing_file_a_directory_and_other_bytes_are_said_clearly(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    for name, problem in {
        "none.toml": "no such file",
        ".": "cannot be read",
        "latin.toml": "UTF-8",
    }.items():
        with pytest.raises(ConfigError, match=problem):
            load(tmp_path / name)


def test_single_brackets_around_site_are_explained(tmp_path: Path) -> None:
    [fault] = faults("[site]\nstart = ['https://shop.example/']\n", tmp_path)
    assert fault == "config.toml:1: site: want tables headed [[site]], with double brackets"


def test_a_site_without_start_urls_is_refused(tmp_path: Path) -> None:
    [fault] = faults("[[site]]\nstart = []\n", tmp_path)
    assert fault == "config.toml:2: site.0.start: want at least one URL, got []"


def test_a_site_is_named_after_its_host_and_two_may_not_share_a_name(tmp_path: Path) -> None:
    text = "[[site]]\nstart = ['https://Shop.example:8080/a']\n"
    assert load(write(text, tmp_path)).config.site[0].name == "shop.example:8080"
    [fault] = faults(text + text, tmp_path)
    assert fault.endswith('site.1.name: want a name of its own, got "shop.example:8080" as site.0')


def test_sites_can_be_changed_and_begun_by_flags(tmp_path: Path) -> None:
    path = write("[[site]]\nstart = ['https://shop.example/']\n", tmp_path)
    flags = {"site.0.delay": "9s", "site.1.start": "http://a.example/,http://b.example/"}
    first, second = load(path, flags=flags).config.site
    assert first.delay == 9.0
    assert second.start == ("http://a.example/", "http://b.example/")
    with pytest.raises(ConfigError, match="no such site"):
        load(path, flags={"site.2.delay": "9s"})


@pytest.mark.parametrize("text", ["127.0.0.0/8, ::1/128", '["127.0.0.0/8", "::1/128"]'])
def test_a_list_can_be_given_as_text(text: str) -> None:
    fetch = load(environment={"FRESHET_FETCH__ALLOW_NETWORKS": text}).config.fetch
    assert fetch.allow_networks == ("127.0.0.0/8", "::1/128")


def test_each_kind_of_setting_can_come_from_the_environment() -> None:
    environment = {
        "FRESHET_CRAWL__DATABASE": "/tmp/x.db",
        "FRESHET_CRAWL__MAX_FETCHES": "10",
        "FRESHET_CRAWL__STOP_AFTER": "1m30s",
        "FRESHET_FETCH__UVLOOP": "true",
        "FRESHET_POLITENESS__SLOW_FACTOR": "2",
        "FRESHET_READING__CHANGE": "content",
    }
    config = load(environment=environment).config
    assert config.crawl.database == Path("/tmp/x.db")
    assert config.crawl.max_fetches == 10
    assert config.crawl.stop_after == Duration("1m30s")
    assert config.fetch.uvloop is True
    assert config.politeness.slow_factor == 2.0
    assert config.reading.change == "content"


def test_every_setting_has_a_variable_of_its_own() -> None:
    assert len({variable(path) for path in setting_types()}) == len(setting_types())


def test_other_variables_are_left_alone() -> None:
    environment = {"FRESHET_DATA": "recordings", "PATH": "/bin", "OTHER_CRAWL__SEED": "x"}
    assert load(environment=environment).config == Config()


def test_a_config_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Config().crawl.seed = 3


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [("MyShopBot/1.0 (+https://example.org/bot)", "MyShopBot"), ("My-Bot x", "My-Bot"), ("", "")],
)
def test_the_product_token_is_the_name_before_the_version(user_agent: str, token: str) -> None:
    assert load(flags={"crawl.user_agent": user_agent}).config.crawl.product_token == token


@pytest.mark.parametrize("user_agent", ["/1.0", "Bot2/1.0", "Bot/1.0\r\nX: y", "Bötli/1.0", " Bot"])
def test_a_user_agent_that_robots_cannot_match_or_a_header_cannot_hold_is_refused(
    user_agent: str,
) -> None:
    with pytest.raises(ConfigError, match="user_agent"):
        load(flags={"crawl.user_agent": user_agent})


@pytest.mark.parametrize(
    ("user_agent", "ready"),
    [
        ("MyShopBot/1.0 (+https://example.org/bot)", True),
        ("MyShopBot/1.0 (ops@example.org)", True),
        ("MyShopBot/1.0", False),
        ("MyShopBot/1.0 (+https://)", False),
        ("", False),
    ],
)
def test_a_live_run_wants_a_contact(user_agent: str, ready: bool) -> None:
    flags = {"crawl.user_agent": user_agent, "site.0.start": "https://shop.example/"}
    problems = [fault.problem for fault in live_run_faults(load(flags=flags).config)]
    assert bool(problems) is not ready
    assert ready or 'user_agent = "MyShopBot/1.0 (+https://' in problems[0]


@pytest.mark.parametrize(
    ("setting", "fit", "unfit"),
    [
        ("price_selector", "p.price:has(b), .b", "div >"),
        ("price_selector", "i[data-now]::attr(data-now)", "::attr(data-now)"),
        ("price_path", "offers.0.price", "offers..price"),
        ("price_path", "script#state $.offers[0].price", "script# $.price"),
        ("currency", "EUR", "euro"),
        ("currency", "CHF", "EUX"),
        ("country", "DE", "de"),
        ("exclude", "/basket", "[a-"),
        ("hosts", "cdn.shop.example", "https://cdn.shop.example/"),
        ("sitemaps", "https://shop.example/sitemap.xml", "/sitemap.xml"),
        ("start", "http://[::1]:8080/", "http://shop:eighty/"),
        ("max_depth", "0", "-1"),
        ("max_pages", "1", "0"),
        ("budget.per_tick", "1", "0"),
        ("name", "A shop", " "),
    ],
)
def test_a_setting_of_a_site_is_checked(setting: str, fit: str, unfit: str) -> None:
    start = {"site.0.start": "https://shop.example/"}
    assert load(flags=start | {f"site.0.{setting}": fit})
    with pytest.raises(ConfigError) as caught:
        load(flags=start | {f"site.0.{setting}": unfit})
    [fault] = caught.value.faults
    assert fault.path.startswith(f"site.0.{setting}")
    assert fault.problem.startswith("want ")


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("politeness.backoff_first=2d", "politeness.backoff_max"),
        ("fetch.connect_timeout=61s", "fetch.total_timeout"),
        ("fetch.read_timeout=61s", "fetch.total_timeout"),
    ],
)
def test_a_part_may_not_last_longer_than_the_whole(long: str, short: str) -> None:
    path, _, text = long.partition("=")
    with pytest.raises(ConfigError) as caught:
        load(flags={path: text})
    assert [fault.path for fault in caught.value.faults] == [short]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text("ab{}", max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
tables = st.sampled_from([*Config.model_fields, "junk"])
known = st.sampled_from([path.replace(".N", ".0") for path in setting_types()])


@given(
    st.dictionaries(tables, junk),
    st.dictionaries(known | st.text(max_size=8), st.text(max_size=8)),
)
def test_whatever_is_written_is_answered_in_words(
    tree: dict[str, object], flags: dict[str, str]
) -> None:
    """Never another exception: a config, or faults that each say something."""
    try:
        answers = list(build(tree, {}, from_flags(flags), file="config.toml").origins.values())
    except ConfigError as error:
        answers = [fault.problem for fault in error.faults]
    assert answers
    assert all(answers)


def test_a_live_run_wants_a_site() -> None:
    assert [fault.path for fault in live_run_faults(Config())] == ["crawl.user_agent", "site"]


def test_urls_become_one_site_for_each_host() -> None:
    sites = sites_from_urls(["https://a.example/1", "https://b.example/", "https://A.example/2"])
    assert [(site.name, len(site.start)) for site in sites] == [("a.example", 2), ("b.example", 1)]
    with pytest.raises(ConfigError, match='got "shop"'):
        sites_from_urls(["shop", "https://a.example/"])
