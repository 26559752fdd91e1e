"""One identity per page: from any href to the canonical URL, or None.  Never raises.

The WHATWG URL standard (ada) decides what an address means: default port, dot segments, escapes, IDNA.
On top of it we drop the fragment, credentials and the query parameters that do not choose a page.
Paths keep their case, their slashes and their escapes: two spellings may be two pages.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

import ada_url
import xxhash

from crawler.reading.text.words import words

# Parameters that only tell the shop where a visitor came from.  A name ending in * is a prefix.
TRACKING = words("""
    utm_* pk_* piwik_* mtm_* matomo_* wt.mc_* at_medium at_campaign at_custom* _openstat
    gclid gclsrc gbraid wbraid dclid srsltid _ga _gl _gac fbclid igshid igsh msclkid yclid ysclid
    ttclid twclid li_fat_id epik s_kwcid ef_id irclickid irgwc awc zanpid cjevent sscid wickedid
    mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking dm_i __s vero_id vero_conv
    oly_anon_id oly_enc_id _bta_tid _bta_c trk_contact trk_msg trk_module trk_sid rb_clickid
    ml_subscriber ml_subscriber_hash _branch_match_id _branch_referrer
""")
# Names that can only be a session; shorter ones (sid, session) are for a site's own rules.
SESSION = words("phpsessid jsessionid aspsessionid* cfid cftoken sessionid session_id zenid oscsid")


@dataclass(frozen=True, slots=True)
class UrlRules:
    """What does not belong to a page's identity on one site.

    `tracking` and `session` name query parameters (any case; `name*` is a prefix) and path parameters
    (`;jsessionid=1`).  Where `keep` is given, only the query parameters it names count.  `sort_query` is
    for shops that print parameters in any order.
    """

    tracking: frozenset[str] = TRACKING
    session: frozenset[str] = SESSION
    keep: frozenset[str] | None = None
    sort_query: bool = False
    max_length: int = 2048
    dropped: re.Pattern[str] = field(init=False, repr=False, compare=False)
    kept: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dropped", _names_pattern(self.tracking | self.session))
        object.__setattr__(self, "kept", _names_pattern(self.keep or frozenset()))

    def drops(self, parameter: str) -> bool:
        """Is this `name=value` named as no part of the page's identity?"""
        return self.dropped.match(f"&{parameter.lower()}") is not None

    def keeps(self, parameter: str) -> bool:
        """Is this `name=value` of a query part of the page's identity?"""
        if self.keep is None:
            return not self.drops(parameter)
        return self.kept.match(f"&{parameter.lower()}") is not None

    def query(self, query: str) -> str:
        """The part of a query that belongs to the page's identity."""
        # Most queries lose nothing: one search costs half of asking for each parameter.
        if not (
            self.keep is not None or self.sort_query or self.dropped.search(f"&{query.lower()}")
        ):
            return query
        kept = [parameter for parameter in query.split("&") if self.keeps(parameter)]
        return "&".join(sorted(kept) if self.sort_query else kept)


def _names_pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Finds `&name` of a parameter in lower case; `name*` is a prefix.  No names find nothing."""
    names = frozenset(name.lower() for name in names)
    whole = "|".join(re.escape(name) for name in sorted(names) if not name.endswith("*"))
    starts = "|".join(re.escape(name[:-1]) for name in sorted(names) if name.endswith("*"))
    choices = [rf"(?:{whole})(?=[=&]|$)"] * bool(whole) + [rf"(?:{starts})"] * bool(starts)
    return re.compile(f"&(?:{'|'.join(choices) or '(?!)'})")


DEFAULT = UrlRules()
PLAIN = UrlRules(tracking=frozenset(), session=frozenset())  # WHATWG alone


class Refusal(StrEnum):
    """Why an href is not a page."""

    NOT_HTTP = "not_http"
    MALFORMED = "malformed"
    TOO_LONG = "too_long"


# No standard href is this long; refusing it here keeps data: URLs of megabytes cheap.
MAX_HREF = 16_384

# What the WHATWG parser would return unchanged, so that it need not be asked: 0.2 us against 1.3 us.
# A segment may not begin with a dot or an escape (%2e is a dot); ; is left out for the session rule.
_PATH = r"(?:/(?![./%])[A-Za-z0-9_~!$&()*+,=:@.%-]*+)++"
_QUERY = r"(?:\?[A-Za-z0-9_~!$&()*+,=:@.%/?;\[\]-]*)?"
# Host names that are no number in disguise: the last label has no digit.
_HOST = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"
# A first segment with a colon would be a scheme.
_FIRST = r"(?![.%])[A-Za-z0-9_~!$&()*+,=@.%-]+"
_ROOTED = re.compile(rf"({_PATH}{_QUERY})(?:#.*)?").fullmatch
_RELATIVE = re.compile(rf"({_FIRST}(?:{_PATH})?{_QUERY})(?:#.*)?").fullmatch
_ABSOLUTE = re.compile(rf"(https?://{_HOST}{_PATH}{_QUERY})(?:#.*)?").fullmatch
_PATH_PARAMETER = re.compile(r";([^/;]*)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HTTP = ("http://", "https://")
_NO_PAGES = ("javascript:", "mailto:", "tel:")
# These mean the same on every page of an origin; all others may depend on the page's own path.
_SAME_EVERYWHERE = ("/", *_HTTP, *_NO_PAGES)
_MOST_KNOWN = 1_000
_LONGEST_KNOWN = 200  # characters


def whatwg_url(url: str, base: str | None = None) -> str | None:
    """The href of the WHATWG standard's parser, of any scheme, or None where it fails."""
    try:
        return _ada(url, base)
    except UnicodeEncodeError:  # the standard's USVString: a lone surrogate reads as U+FFFD
        return whatwg_url(_SURROGATE.sub("\ufffd", url), base and _SURROGATE.sub("\ufffd", base))
    except ValueError:
        return None


def _ada(url: str, base: str | None) -> str:
    href: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    return href


def canonical_url(url: str, base: str | None = None, rules: UrlRules = DEFAULT) -> str | None:
    """The one address of the page that `url`, found on page `base`, names; None when it names none."""
    return canonical_urls((url,), base, rules)[0]


def canonical_urls(
    urls: Iterable[str], base: str | None, rules: UrlRules = DEFAULT
) -> list[str | None]:
    """`canonical_url` for all links of one page: the base is taken apart once."""
    place = _place(base)
    if place is None:
        return [_canonical(url, base, None, rules) for url in urls]
    known = _known(place.origin, rules)
    if len(known) > _MOST_KNOWN:
        known.clear()
    found: list[str | None] = []
    for url in urls:
        page = known.get(url, "")
        if page == "":
            page = _canonical(url, base, place, rules)
            if len(url) <= _LONGEST_KNOWN and url.startswith(_SAME_EVERYWHERE):
                known[url] = page
        found.append(page)
    return found


@lru_cache(maxsize=64)
def _known(origin: str, rules: UrlRules) -> dict[str, str | None]:
    """What hrefs meant on other pages of this origin: the pages of a shop share most of theirs.

    148 links are looked up in 15 us; to read them takes 45.  64 origins with all they may hold take 40 MB.
    """
    return {}


@dataclass(frozen=True, slots=True)
class _Place:
    """What the links of a page start from: `https://shop.example` and `https://shop.example/men/`.

    Both are the parser's own spelling, because the fast path hands them on unread.
    """

    origin: str
    folder: str

    def join(self, url: str) -> str | None:
        """The plain cases: an own absolute, a rooted or a relative address; None for all others."""
        own = url.startswith(self.origin)
        if rooted := _ROOTED(url, len(self.origin) if own else 0):
            return self.origin + rooted[1]
        if relative := _RELATIVE(url):
            return self.folder + relative[1]
        return None


@lru_cache(
    maxsize=64
)  # one page asks several times: for its canonical, its feeds, its links, its cards
def _place(base: str | None) -> _Place | None:
    href = whatwg_url(base) if base is not None else None
    if href is None or not href.startswith(_HTTP):
        return None
    address = _without_credentials(href.partition("#")[0])
    path = address.partition("?")[0]
    return _Place(origin_of(address), path[: path.rfind("/") + 1])


def _canonical(url: str, base: str | None, place: _Place | None, rules: UrlRules) -> str | None:
    address = place.join(url) if place is not None else None
    if address is None:
        absolute = _ABSOLUTE(url)
        address = absolute[1] if absolute else _parsed(url, base)
    if "?" in address or ";" in address:
        address = _drop_parameters(address, rules)
    return address if address and len(address) <= rules.max_length else None


def _parsed(url: str, base: str | None) -> str:
    """What the WHATWG parser makes of it, without fragment and credentials; "" when it is no page's."""
    href = whatwg_url(url, base) if len(url) <= MAX_HREF else None
    if href is None or not href.startswith(_HTTP):
        return ""
    return _without_credentials(href.partition("#")[0])


def _without_credentials(href: str) -> str:
    scheme, _, rest = href.partition("//")
    authority, _, path = rest.partition("/")
    return f"{scheme}//{authority.rpartition('@')[2]}/{path}"


def _drop_parameters(url: str, rules: UrlRules) -> str:
    """Apply a site's rules to the query and to path parameters of an absolute URL."""
    path, mark, query = url.partition("?")
    if ";" in path:
        short = _PATH_PARAMETER.sub(lambda found: "" if rules.drops(found[1]) else found[0], path)
        path = (
            path if short == path else whatwg_url(short) or path
        )  # "/.;sid=1" leaves a dot segment
    if not query:
        return path + mark
    kept = rules.query(query)
    return f"{path}?{kept}" if kept else path


def why_refused(url: str, base: str | None = None, rules: UrlRules = DEFAULT) -> Refusal:
    """The reason for a None of `canonical_url`; asked only then, so it may take its time."""
    if url.startswith(_NO_PAGES):  # every menu has some
        return Refusal.NOT_HTTP
    if len(url) > MAX_HREF:
        return Refusal.TOO_LONG if url[:4].lower() == "http" else Refusal.NOT_HTTP
    href = whatwg_url(url, base)
    if href is None:
        return Refusal.MALFORMED
    return Refusal.TOO_LONG if href.startswith(_HTTP) else Refusal.NOT_HTTP


def origin_of(url: str) -> str:
    """Scheme and host of a canonical URL, without the slash after them; "" for anything else."""
    if not url.startswith(_HTTP):
        return ""
    end = url.find("/", 8)
    return url[:end] if end > 0 else ""


def host_of(url: str) -> str:
    """`host` or `host:port` of a canonical URL: the unit of politeness and robots."""
    return origin_of(url).partition("//")[2]


def page_hash(url: str) -> int:
    """64 bits of a canonical URL as SQLite's signed integer."""
    digest = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return digest - (1 << 64) if digest >> 63 else digest


def host_name(host: str) -> str:
    """A host without its port: `shop.example:8080` and `[::1]:80` give `shop.example` and `[::1]`."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (":" not in name or name.endswith("]")) else host


def registered_domain(host: str) -> str:
    """The name somebody registered (`shop.co.uk`); an address or a bare public suffix stands for itself."""
    name = host_name(host).lower().rstrip(".")
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return _suffixes().privatesuffix(name) or name
    return name


class _Suffixes(Protocol):
    def privatesuffix(self, domain: str) -> str | None: ...


@lru_cache(maxsize=1)
def _suffixes() -> _Suffixes:
    """The public suffix list, read once and only when asked for: it takes 30 ms."""
    from publicsuffixlist import PublicSuffixList

    suffixes: _Suffixes = PublicSuffixList()
    return suffixes
