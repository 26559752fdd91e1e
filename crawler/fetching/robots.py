"""What does a robots.txt allow us?  RFC 9309: text in, verdict out.  Pure."""

import re
from dataclasses import dataclass

from protego import Protego

_AGENT_LINE = re.compile(
    rb"^[ \t]*user-?agent[ \t]*:[ \t]*([^#\r\n]*)", re.IGNORECASE | re.MULTILINE
)
_TOKEN = re.compile(rb"[A-Za-z_-]+")
_OURS = b"ours"
_OTHER = b"somebody-else"


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one host for us.  `rules` None: `allow_all` decides."""

    allow_all: bool
    rules: Protego | None = None
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        if self.rules is None:
            return self.allow_all
        return bool(self.rules.can_fetch(url, _OURS.decode()))


ALLOW_ALL = RobotsRules(allow_all=True)
DENY_ALL = RobotsRules(allow_all=False)


def parse_robots(body: bytes, *, product_token: str, max_size: int) -> RobotsRules:
    """The rules for our product token; only the first `max_size` bytes count.

    Protego matches agents by prefix, so a group for `example` would catch `examplebot`.  The RFC wants the
    whole token: our group is renamed to one name and all other groups to another before it parses.
    """
    body = body[:max_size].removeprefix(b"\xef\xbb\xbf")
    token = product_token.lower().encode()

    def rename(line: re.Match[bytes]) -> bytes:
        agent = line.group(1).strip()
        if agent == b"*":
            return b"User-agent: *"
        match = _TOKEN.match(agent)
        ours = match is not None and match.group().lower() == token
        return b"User-agent: " + (_OURS if ours else _OTHER)

    text = _AGENT_LINE.sub(rename, body).decode("utf-8", errors="replace")
    parsed = Protego.parse(text)
    delay = parsed.crawl_delay(_OURS.decode())
    return RobotsRules(
        allow_all=True,
        rules=parsed,
        crawl_delay=None if delay is None else float(delay),
        sitemaps=tuple(parsed.sitemaps)[:1000],
    )
