"""How a simulated shop behaves: the dials, as data."""

from dataclasses import dataclass, replace
from enum import StrEnum

DAY = 86_400.0
HOUR = 3_600.0


class Rhythm(StrEnum):
    """How an offer's price moves."""

    FAST = "fast"  # Poisson, several times a day, by the hour of the week
    SLOW = "slow"  # Poisson, every few weeks
    CLOCKWORK = "clockwork"  # every so many hours, gaps within 5 %
    SALE = "sale"  # slow, and cheaper on the weekly sales day


class Lastmod(StrEnum):
    """What a sitemap's lastmod is worth."""

    HONEST = "honest"  # every change, nothing else
    NOISY = "noisy"  # misses some changes, announces some that never were
    USELESS = "useless"  # every page claims the moment the sitemap was built


class Template(StrEnum):
    """Where an offer page writes its price, beside the visible text."""

    JSON_LD = "json_ld"
    MICRODATA = "microdata"
    OPEN_GRAPH = "open_graph"
    STATE_JSON = "state_json"
    VISIBLE = "visible"


class Validators(StrEnum):
    """Which validators offer pages carry for conditional GET."""

    BOTH = "both"
    ETAG = "etag"
    LAST_MODIFIED = "last_modified"
    NONE = "none"


class Vanish(StrEnum):
    """What is left on the page of an offer that the shop no longer has."""

    STATUS = "status"  # 404, or 410 for every third offer
    SOFT = "soft"  # 200 and an apology
    REDIRECT = "redirect"  # 301 to the category


@dataclass(frozen=True, slots=True)
class Wall:
    """A period in which every page but robots.txt is a bot wall."""

    starts_at: float
    ends_at: float
    status: int = 200


@dataclass(frozen=True, slots=True)
class Campaign:
    """A shop-wide sale: a share of all offers is cheaper from start to end."""

    starts_at: float
    ends_at: float
    share: float = 0.5
    factor: float = 0.85


@dataclass(frozen=True, slots=True)
class Shift:
    """A moment at which a site changes its habits."""

    at: float
    rate_factor: float = 1.0
    lastmod: Lastmod | None = None
    dead_categories: int = 0  # the first so many categories get no new offers any more


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """One site of the shop world.  Shares are of offers, pages or requests, from 0 to 1."""

    host: str
    offers: int = 100  # alive at a time, on average
    categories: int = 6
    lifetime_days: float = 60.0
    currency: str = "EUR"
    language: str = "en"
    template: Template = Template.JSON_LD
    lastmod: Lastmod = Lastmod.HONEST
    validators: Validators = Validators.BOTH
    vanish: Vanish = Vanish.STATUS
    utc_offset_hours: float = 0.0

    fast_share: float = 0.2
    clockwork_share: float = 0.2
    sale_share: float = 0.2  # what remains is slow
    fast_per_day: float = 4.0
    slow_per_day: float = 0.05
    clockwork_per_day: float = 2.0
    sale_weekday: int = 3  # Monday is 0
    campaigns: tuple[Campaign, ...] = ()
    shift: Shift | None = None
    out_of_stock_share: float = 0.08
    restock_days: float = 2.0

    signal_recall: float = 0.6  # of NOISY sitemaps
    false_signals_per_day: float = 0.2  # of NOISY sitemaps, each offer
    sitemap_every: float = HOUR
    sitemap_offers: int = 500
    listing_offers: int = 24

    latency: float = 0.05
    slow_share: float = 0.02
    slow_seconds: float = 2.0
    busy_share: float = 0.004
    retry_after: int = 60
    crawl_delay: float | None = None
    walls: tuple[Wall, ...] = ()
    page_bytes: int = 0  # pad every HTML page to about this size


@dataclass(frozen=True, slots=True)
class ShopSettings:
    """Several sites over one span of shop time.  After the span nothing moves any more."""

    sites: tuple[SiteSettings, ...]
    starts_at: float
    days: float = 60.0

    @property
    def ends_at(self) -> float:
        return self.starts_at + self.days * DAY


# Five shops that differ in all that a crawler meets: markup, currency, language, sitemap, rhythm.
_VARIETY = (
    SiteSettings("garden.shop.test", currency="EUR", language="de", utc_offset_hours=1.0),
    SiteSettings(
        "tools.shop.test",
        currency="GBP",
        template=Template.MICRODATA,
        lastmod=Lastmod.NOISY,
        validators=Validators.ETAG,
        fast_share=0.05,
        sale_share=0.5,
    ),
    SiteSettings(
        "toys.shop.test",
        currency="USD",
        template=Template.STATE_JSON,
        lastmod=Lastmod.USELESS,
        validators=Validators.NONE,
        utc_offset_hours=-5.0,
        clockwork_share=0.5,
        lifetime_days=20.0,
    ),
    SiteSettings(
        "books.shop.test",
        currency="SEK",
        language="sv",
        template=Template.OPEN_GRAPH,
        lastmod=Lastmod.NOISY,
        validators=Validators.LAST_MODIFIED,
        utc_offset_hours=1.0,
        fast_share=0.0,
        clockwork_share=0.05,
    ),
    SiteSettings(
        "kitchen.shop.test",
        currency="JPY",
        language="ja",
        template=Template.VISIBLE,
        lastmod=Lastmod.HONEST,
        validators=Validators.ETAG,
        utc_offset_hours=9.0,
        fast_share=0.5,
    ),
)


def varied_shop(
    *, starts_at: float, days: float = 60.0, sites: int = 5, offers: int = 100
) -> ShopSettings:
    """So many sites of so many offers each, no two alike in the first five; each has one campaign."""
    campaign = Campaign(starts_at + 0.55 * days * DAY, starts_at + 0.65 * days * DAY)
    return ShopSettings(
        sites=tuple(
            replace(
                _VARIETY[number % len(_VARIETY)],
                host=_host(number),
                offers=offers,
                campaigns=(campaign,),
            )
            for number in range(sites)
        ),
        starts_at=starts_at,
        days=days,
    )


def _host(number: int) -> str:
    turn, which = divmod(number, len(_VARIETY))
    host = _VARIETY[which].host
    return host if turn == 0 else host.replace(".", f"-{turn + 1}.", 1)
