"""The line of every setting, as an editor counts it."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from crawler.config.lines import line_numbers, paths

FILE = '''# a comment with a = 1
top.dotted = 1

[politeness]  # header
delay = "2s"
inline = { a = 1, b = [2] }

[[site]]
start = [
  "https://a.example/",  # not = a key
  "https://b.example/]",
]
text = """
name = "inside a string"
"""
[site.budget]
per_hour = 5
[[site]]
start = ["https://c.example/"]
[site.budget]
per_hour = 6
'''


def test_each_setting_is_on_its_line() -> None:
    lines = line_numbers(FILE)
    assert lines["top.dotted"] == 2
    assert lines["politeness"] == 4
    assert lines["politeness.delay"] == 5
    assert lines["politeness.inline.b"] == 6
    assert lines["site.0"] == 8
    assert lines["site.0.start"] == 9
    assert lines["site.0.budget.per_hour"] == 17
    assert lines["site.1.start"] == 19
    assert lines["site.1.budget.per_hour"] == 21
    assert "name" not in lines
    assert "site.0.name" not in lines


def test_windows_line_ends_do_not_matter() -> None:
    assert line_numbers(FILE.replace("\n", "\r\n")) == line_numbers(FILE)


words = st.sampled_from(["a", "b", "c"])
scalars = st.sampled_from(["1", '"x = 1"', "'''\nb = 2\n'''", "[\n  1,\n  [2],\n]", "true"])


@given(st.dictionaries(words, st.dictionaries(words, scalars)))
def test_every_setting_has_a_line_that_begins_with_it(tables: dict[str, dict[str, str]]) -> None:
    text = "\n".join(
        f"[{table}]\n" + "\n".join(f"{key} = {value}" for key, value in settings.items())
        for table, settings in tables.items()
    )
    lines = line_numbers(text)
    for path in paths(tomllib.loads(text)):
        words_of_path = path.split(".")
        if len(words_of_path) == 2:
            assert text.split("\n")[lines[path] - 1].startswith(f"{words_of_path[1]} = ")
