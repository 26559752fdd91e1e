"""Settings by path: which one was meant?"""

import pytest

from crawler.config.keys import path_of, setting_types, type_of, unknown_key, variable

PATHS = [path.replace("site.N", "site.0") for path in setting_types()]
TABLES = sorted({path.rpartition(".")[0] for path in PATHS})
WORDS = sorted({path.rpartition(".")[2] for path in PATHS})


def meant(path: str) -> str:
    return unknown_key(path).rpartition("did you mean ")[2].rstrip("?")


@pytest.mark.parametrize("table", TABLES)
def test_the_right_word_in_the_wrong_table_is_found(table: str) -> None:
    wrong = [word for word in WORDS if type_of(f"{table}.{word}") is None]
    assert {word: meant(f"{table}.{word}").rpartition(".")[2] for word in wrong} == {
        word: word for word in wrong
    }


@pytest.mark.parametrize("path", PATHS)
def test_two_letters_swapped_at_the_end_are_put_right(path: str) -> None:
    slip = path[:-2] + path[:-3:-1]
    assert slip == path or meant(slip) == path


def test_a_budget_written_into_the_site_itself_is_pointed_to_its_table() -> None:
    assert meant("site.3.per_hour") == "site.3.budget.per_hour"


@pytest.mark.parametrize("path", PATHS)
def test_a_variable_leads_back_to_its_setting(path: str) -> None:
    assert path_of(variable(path)) == path
    assert type_of(path) is not None


@pytest.mark.parametrize(
    "path", ["site.delay", "politeness.0.delay", "politeness", "", "site.0", "x.y"]
)
def test_what_is_no_single_setting_has_no_type(path: str) -> None:
    assert type_of(path) is None
