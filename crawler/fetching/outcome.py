"""Every way a fetch can end: its name, whose fault it is, and what happens next."""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Who must change for the next fetch to go better."""

    NOBODY = "nobody"
    PAGE = "page"
    HOST = "host"
    OURS = "ours"


class Next(StrEnum):
    """What the planner may do with the page after this outcome."""

    REFRESH = "refresh it when it is due"
    RETRY = "try again later"
    REST = "leave it for long, then look again"
    DROP = "do not fetch it again"


class Outcome(StrEnum):
    """How one fetch ended.  The value is what reports, logs and the database show."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    ALIAS = "alias"
    REDIRECTED = "redirected"
    REDIRECTED_AWAY = "redirected_away"
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    GONE = "gone"
    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    THROTTLED = "throttled"
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    CRAWL_DELAY_TOO_LONG = "crawl_delay_too_long"
    TIMEOUT = "timeout"
    DNS = "dns"
    REFUSED = "refused"
    RESET = "reset"
    TLS = "tls"
    FORBIDDEN_ADDRESS = "forbidden_address"
    TOO_LARGE = "too_large"
    HEADERS_TOO_LARGE = "headers_too_large"
    TRUNCATED = "truncated"
    BAD_ENCODING = "bad_encoding"
    BAD_HTTP = "bad_http"
    WRONG_TYPE = "wrong_type"
    WALL = "wall"
    CONSENT = "consent_page"
    SOFT_404 = "soft_404"
    ERROR_PAGE = "error_page"
    EMPTY_SHELL = "empty_shell"
    PARSER_STALL = "parser_stall"
    UNREADABLE = "unreadable"
    OVER_BUDGET = "over_budget"
    NOT_CAPTURED = "not_captured"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an outcome says about the page and its host."""

    fault: Fault
    next: Next
    teaches_change: bool = False  # only a believed answer says whether the page changed


_REFRESH = Meaning(Fault.NOBODY, Next.REFRESH, teaches_change=True)
_HOST_RETRY = Meaning(Fault.HOST, Next.RETRY)
_PAGE_RETRY = Meaning(Fault.PAGE, Next.RETRY)
_PAGE_REST = Meaning(Fault.PAGE, Next.REST)
_HOST_REST = Meaning(Fault.HOST, Next.REST)

MEANING: dict[Outcome, Meaning] = {
    Outcome.OK: _REFRESH,
    Outcome.NOT_MODIFIED: _REFRESH,
    Outcome.ALIAS: Meaning(Fault.NOBODY, Next.REST),
    Outcome.REDIRECTED: Meaning(Fault.NOBODY, Next.REST),
    Outcome.REDIRECTED_AWAY: Meaning(Fault.NOBODY, Next.REST),
    Outcome.REDIRECT_LOOP: _PAGE_REST,
    Outcome.TOO_MANY_REDIRECTS: _PAGE_REST,
    Outcome.GONE: Meaning(Fault.NOBODY, Next.REST),
    Outcome.CLIENT_ERROR: _PAGE_REST,
    Outcome.SERVER_ERROR: _PAGE_RETRY,
    Outcome.THROTTLED: _HOST_RETRY,
    Outcome.ROBOTS: Meaning(Fault.NOBODY, Next.REST),
    Outcome.ROBOTS_UNREACHABLE: _HOST_RETRY,
    Outcome.CRAWL_DELAY_TOO_LONG: _HOST_REST,
    Outcome.TIMEOUT: _HOST_RETRY,
    Outcome.DNS: _HOST_RETRY,
    Outcome.REFUSED: _HOST_RETRY,
    Outcome.RESET: _HOST_RETRY,
    Outcome.TLS: _HOST_RETRY,
    Outcome.FORBIDDEN_ADDRESS: _HOST_REST,
    Outcome.TOO_LARGE: _PAGE_REST,
    Outcome.HEADERS_TOO_LARGE: _PAGE_REST,
    Outcome.TRUNCATED: _PAGE_RETRY,
    Outcome.BAD_ENCODING: _PAGE_REST,
    Outcome.BAD_HTTP: _PAGE_RETRY,
    Outcome.WRONG_TYPE: _PAGE_REST,
    Outcome.WALL: _HOST_RETRY,
    Outcome.CONSENT: _PAGE_REST,
    Outcome.SOFT_404: Meaning(Fault.NOBODY, Next.REST),
    Outcome.ERROR_PAGE: _PAGE_RETRY,
    Outcome.EMPTY_SHELL: _PAGE_REST,
    Outcome.PARSER_STALL: _PAGE_REST,
    Outcome.UNREADABLE: Meaning(Fault.OURS, Next.REST),
    Outcome.OVER_BUDGET: Meaning(Fault.OURS, Next.RETRY),
    Outcome.NOT_CAPTURED: Meaning(Fault.OURS, Next.REST),
}


def outcome_of_status(status: int) -> Outcome:
    """The outcome that an HTTP status alone decides.  Redirects are judged by their target later."""
    if status == 304:
        return Outcome.NOT_MODIFIED
    if 200 <= status < 300:
        return Outcome.OK
    if status in (301, 302, 303, 307, 308):
        return Outcome.REDIRECTED
    if status in (404, 410):
        return Outcome.GONE
    if status in (429, 503):
        return Outcome.THROTTLED
    if status >= 500 or status < 200:
        return Outcome.SERVER_ERROR
    return Outcome.CLIENT_ERROR
