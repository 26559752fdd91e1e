"""check-config and show-config as the operator sees them."""

import io
import json
from pathlib import Path

from crawler.config import load_config
from crawler.operator.config_commands import check_config, show_config

FILE = """
[crawl]
user_agent = "MyShopBot/1.0 (+https://example.org/bot)"
[politeness]
slots = 16
[[site]]
start = ["https://shop.example/"]
include = ['/p/\\d+$']
[site.budget]
per_hour = 50
[[site]]
start = ["https://other.example/"]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def check(path: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = check_config(path, environment={}, flags={}, out=out, err=err)
    return code, out.getvalue(), err.getvalue()


def show(path: Path, *, as_json: bool, flags: dict[str, str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert show_config(path, environment={}, flags=flags, as_json=as_json, out=out, err=err) == 0, (
        err.getvalue()
    )
    return out.getvalue()


def test_a_good_file_is_fine_and_its_sites_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    assert check(path) == (0, f"{path}: fine, 2 sites\n", "")


def test_a_fine_file_without_contact_or_sites_says_what_a_run_wants(tmp_path: Path) -> None:
    code, out, _ = check(write(tmp_path, ""))
    assert code == 0
    assert out.count("not yet ready to run") == 2


def test_faults_go_to_standard_error_with_exit_2(tmp_path: Path) -> None:
    path = write(tmp_path, "[crawl]\nseed = 'x'\ntick = 3\n")
    code, out, err = check(path)
    assert (code, out) == (2, "")
    assert [line.split(": ")[1] for line in err.splitlines()] == ["crawl.tick", "crawl.seed"]


def test_show_config_of_a_bad_file_ends_with_exit_2(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    path = write(tmp_path, "sed = 1")
    code = show_config(path, environment={}, flags={}, as_json=True, out=out, err=err)
    assert (code, out.getvalue()) == (2, "")
    assert "did you mean crawl.seed" in err.getvalue()


def test_show_config_says_where_each_value_came_from(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    lines = show(path, as_json=False, flags={"politeness.delay": "500ms"}).splitlines()
    described = {line.split(" #")[0].rstrip(): line.rpartition("# ")[2] for line in lines}
    assert described['delay = "0.5s"'] == "flag"
    assert described["slots = 16"] == f"{path}:5"
    assert described["per_host = 1"] == "default"
    assert described["per_hour = 50"] == f"{path}:10"


def test_what_show_config_prints_is_a_config_file_with_the_same_settings(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    flags = {"crawl.stop_after": "90s", "site.0.exclude": 'quote"\\.\x7fü'}
    meant = load_config(path, environment={}, flags=flags).config
    shown = show(path, as_json=False, flags=flags)
    assert load_config(write(tmp_path, shown), environment={}, flags={}).config == meant


def test_show_config_as_json_holds_value_and_origin(tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    settings = json.loads(show(path, as_json=True, flags={"fetch.max_body": "1MB"}))
    assert settings["fetch.max_body"] == {"value": "1MB", "origin": "flag"}
    assert settings["politeness.slots"] == {"value": 16, "origin": f"{path}:5"}
    assert settings["site.0.budget.per_hour"]["value"] == 50
    assert settings["crawl.stop_after"] == {"value": None, "origin": "default"}
