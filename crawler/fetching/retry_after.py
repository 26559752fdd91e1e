"""How long does a Retry-After header ask us to wait?  Pure."""

from email.utils import parsedate_to_datetime


def retry_after(text: str | None, *, now: float) -> float | None:
    """Seconds to wait by a Retry-After header, in either of its forms; None when it says nothing."""
    if not text:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
