"""When may a page be fetched again, after what came of the last fetch?  Pure."""

from crawler.fetching.outcome import MEANING, Next, Outcome

_RETRY_FIRST = 60.0
_RETRY_MOST = 86_400.0
_REST_FIRST = 86_400.0
_REST_MOST = 30 * 86_400.0
_NEVER = 4e9 * 1000.0


def not_before(outcome: Outcome, *, now: float, failures: int, revisit: float) -> float:
    """`failures` counts the fetches in a row, this one included, that gave no believed answer."""
    match MEANING[outcome].next:
        case Next.REFRESH:
            return now + revisit
        case Next.RETRY:
            return now + min(_RETRY_FIRST * 2.0 ** min(failures - 1, 20), _RETRY_MOST)
        case Next.REST:
            return now + max(revisit, min(_REST_FIRST * 2.0 ** min(failures - 1, 20), _REST_MOST))
        case Next.DROP:
            return _NEVER
