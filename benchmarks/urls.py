"""Do addresses mean what the WHATWG says?  The Web Platform Tests' cases against crawler/reading/urls.py.

FILE is their urltestdata.json.  The parser is judged by itself, on every case; the canonical URL is judged on the
http(s) cases, where it may differ in nothing but the fragment and credentials it drops.  With the default query
rules a row counts how many of those cases they touch.
"""

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, recording, show
from crawler.reading.urls import PLAIN, canonical_url, whatwg_url

Case = dict[str, Any]
Reader = Callable[[str, str | None], str | None]


def load(path: pathlib.Path) -> list[Case]:
    """The cases; the file's comments are bare strings."""
    return [case for case in json.loads(path.read_text("utf-8")) if isinstance(case, dict)]


def is_http(case: Case) -> bool:
    return case.get("protocol") in ("http:", "https:")


def bare(case: Case) -> str | None:
    """The expected href without fragment and credentials; None for what names no page."""
    if not is_http(case):
        return None
    query_and_path = (
        case["pathname"] + case["href"].partition("#")[0].partition("?")[1] + case["search"][1:]
    )
    return f"{case['protocol']}//{case['host']}{query_and_path}"


def compare(
    name: str, cases: list[Case], read: Reader, want: Callable[[Case], str | None]
) -> tuple[Row, list[str]]:
    """One row, and a line for every disagreement or exception."""
    wrong: list[str] = []
    raised = 0
    for case in cases:
        try:
            got = read(case["input"], case.get("base"))
        except Exception as error:  # noqa: BLE001  # the claim is that there is none
            raised += 1
            got = repr(error)
        if got != want(case):
            wrong.append(
                f"{name}: {case['input']!r} on {case.get('base')!r}: want {want(case)!r}, got {got!r}"
            )
    row: Row = {
        "what": name,
        "cases": len(cases),
        "agree": len(cases) - len(wrong),
        "raised": raised,
    }
    return row, wrong


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("file", nargs="?", help="urltestdata.json; default: conformance/ in --data")
    args = parser.parse_args()
    file = (
        pathlib.Path(args.file)
        if args.file
        else recording(args.data, "conformance/urltestdata.json")
    )
    cases = load(file)
    http = [case for case in cases if is_http(case)]
    failures = [case for case in cases if case.get("failure")]
    others = [case for case in cases if not is_http(case) and not case.get("failure")]

    def href(case: Case) -> str | None:
        return None if case.get("failure") else str(case["href"])

    results = [
        compare("parser, http(s)", http, whatwg_url, href),
        compare("parser, failures", failures, whatwg_url, href),
        compare("parser, other schemes", others, whatwg_url, href),
        compare(
            "canonical, http(s), no query rules",
            http,
            lambda u, b: canonical_url(u, b, PLAIN),
            bare,
        ),
        compare("canonical, failures", failures, canonical_url, bare),
        compare("canonical, other schemes: none", others, canonical_url, bare),
        compare("canonical, http(s), default rules", http, canonical_url, bare),
    ]
    show([row for row, _ in results], as_json=args.json)
    for _, wrong in results:
        for line in wrong:
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
