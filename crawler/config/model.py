"""Every setting with its type, range and default.  Frozen; nothing else reads settings.

A check between two settings is a validator of the later one, so that it still runs when a third is at fault.
"""

import ipaddress
import re
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crawler.config.units import Duration, Size, UnfitError


def checked(accepts: Callable[[str], object], wanted: str) -> AfterValidator:
    """A text is fit if `accepts` returns something true; a ValueError refuses it too."""

    def check(text: str) -> str:
        try:
            fit = accepts(text)
        except (ValueError, re.error, zoneinfo.ZoneInfoNotFoundError):
            fit = False
        if not fit:
            raise UnfitError(wanted)
        return text

    return AfterValidator(check)


def is_web_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # Reading the port raises on "http://shop:eighty/".
        complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return complete and parts.scheme in {"http", "https"} and text.isprintable() and " " not in text


def is_pattern(text: str) -> bool:
    re.compile(text)
    return True


def is_selector(text: str) -> bool:
    # Imported here because few configs name a selector, and the parser takes 30 ms to load.
    from crawler.reading.markup.overrides import is_selector_rule

    return is_selector_rule(text)


def is_json_path(text: str) -> bool:
    from crawler.reading.markup.overrides import is_json_path

    return is_json_path(text)


def is_currency(text: str) -> bool:
    from crawler.reading.text.currencies import CODES

    return text in CODES


def weight_and_pattern(text: str) -> tuple[float, re.Pattern[str]] | None:
    """ "3 /sale/" is the weight 3 for URLs that fit /sale/; None when the weight makes no sense."""
    weight, _, pattern = text.partition(" ")
    number = float(weight)
    return (number, re.compile(pattern)) if 0 < number < 1e9 and pattern else None


def is_user_agent(text: str) -> bool:
    """Empty, or a product token of RFC 9309 (letters, "_", "-") first and nothing that breaks a header."""
    return not text or (
        text.isascii() and text.isprintable() and bool(re.match(r"[A-Za-z_-]+(?=[/ ]|$)", text))
    )


def host_of(url: str) -> str:
    """The host with its port, if one is written: two shops on one machine stay two."""
    return urlsplit(url).netloc.rpartition("@")[2].lower() if is_web_url(url) else ""


Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0)]
Positive = Annotated[int, Strict(), Field(ge=1)]
Port = Annotated[int, Strict(), Field(ge=0, le=65_535)]
Number = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(ge=0, le=1)]
Wait = Annotated[Duration, Field(gt=Duration("0s"))]
Bytes = Annotated[Size, Field(gt=Size("0B"))]
FilePath = Annotated[Path, AfterValidator(Path.expanduser)]
WebUrl = Annotated[
    str, checked(is_web_url, 'want an http or https URL such as "https://shop.example/"')
]
Pattern = Annotated[str, checked(is_pattern, "want a regular expression")]
Network = Annotated[str, checked(ipaddress.ip_network, 'want a network such as "127.0.0.0/8"')]
Host = Annotated[
    str,
    AfterValidator(str.lower),
    checked(re.compile(r"[^\s/@?#]+").fullmatch, 'want a host such as "cdn.shop.example"'),
]
UserAgent = Annotated[
    str,
    checked(is_user_agent, 'want a name of letters, "-" or "_" first, as in "MyShopBot/1.0 (...)"'),
]
Currency = Annotated[str, checked(is_currency, 'want an ISO 4217 code such as "EUR"')]
Country = Annotated[
    str, checked(re.compile("[A-Z]{2}").fullmatch, 'want an ISO 3166 code such as "DE"')
]
Selector = Annotated[str, checked(is_selector, 'want a CSS selector such as ".product .price"')]
Zone = Annotated[str, checked(zoneinfo.ZoneInfo, 'want a time zone such as "Europe/Berlin"')]
Weighted = Annotated[
    str, checked(weight_and_pattern, 'want a weight above 0 and a pattern, such as "3 /sale/"')
]
JsonPath = Annotated[str, checked(is_json_path, 'want a path into JSON such as "offers.0.price"')]
Text = Annotated[str, checked(str.strip, "want some text")]


Arm = Literal["clock", "greedy", "oldest_first", "uniform", "change_weighted", "lambda_crawl"]


class Settings(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def at_least(value: Duration, name: str, info: ValidationInfo) -> Duration:
    """`value` if it is no shorter than the earlier setting `name`; one at fault itself is not compared."""
    least = info.data.get(name)
    if least is not None and value < least:
        raise UnfitError(f"want at least {name} ({least})")
    return value


class CrawlSettings(Settings):
    """The run as a whole."""

    user_agent: UserAgent = ""
    database: FilePath = Path("freshet.db")
    tick: Wait = Duration("1m")
    revisit: Duration = Duration("1h")
    seed: Count = 0
    stop_after: Wait | None = None
    max_fetches: Positive | None = None
    max_failures: Share = 0.9

    @property
    def product_token(self) -> str:
        """The name that robots.txt groups are matched against."""
        return re.split("[/ ]", self.user_agent, maxsplit=1)[0]


class BudgetSettings(Settings):
    """Fetches allowed; the tightest holds, none means as fast as politeness allows."""

    per_tick: Positive | None = None
    per_hour: Positive | None = None
    per_day: Positive | None = None


class PolitenessSettings(Settings):
    """How gently hosts are asked."""

    delay: Duration = Duration("2s")
    per_host: Positive = 1
    slots: Positive = 64
    max_crawl_delay: Duration = Duration("60s")
    backoff_first: Wait = Duration("60s")
    backoff_max: Wait = Duration("1d")
    adaptive: Flag = True
    slow_factor: Number = 1.0

    @field_validator("backoff_max")
    @classmethod
    def _backoff_grows(cls, value: Duration, info: ValidationInfo) -> Duration:
        return at_least(value, "backoff_first", info)


class FetchSettings(Settings):
    """Limits on one fetch."""

    connect_timeout: Wait = Duration("10s")
    read_timeout: Wait = Duration("20s")
    total_timeout: Wait = Duration("60s")
    max_body: Bytes = Size("8MB")
    max_inflated: Bytes = Size("32MB")
    max_header: Bytes = Size("32KB")
    max_redirects: Count = 5
    allow_networks: tuple[Network, ...] = ()
    content_types: tuple[Text, ...] = (
        "text/html",
        "application/xhtml+xml",
        "application/xml",
        "text/xml",
        "text/plain",
        "application/rss+xml",
        "application/atom+xml",
        "application/gzip",
        "application/x-gzip",
    )
    dns_cache: Duration = Duration("5m")
    uvloop: Flag = False
    parse_deadline: Wait = Duration("5s")

    @field_validator("total_timeout")
    @classmethod
    def _total_covers_the_parts(cls, value: Duration, info: ValidationInfo) -> Duration:
        return at_least(at_least(value, "connect_timeout", info), "read_timeout", info)


class RobotsSettings(Settings):
    """How long and how much of robots.txt is kept.  Obeying it is no setting."""

    # RFC 9309: a cached copy is not used for longer than a day; at least 500 KiB are read.
    ttl: Annotated[Wait, Field(le=Duration("24h"))] = Duration("24h")
    max_size: Annotated[Size, Field(ge=Size("500KiB"))] = Size("500KiB")


class ReadingSettings(Settings):
    """What a page teaches."""

    drop_parameters: tuple[Text, ...] = ()
    max_links: Positive = 5000
    change: Literal["offer", "price", "content"] = "offer"


class PlanningSettings(Settings):
    """How the next fetches are chosen."""

    strategy: Literal[
        "clock",
        "greedy",
        "oldest_first",
        "uniform",
        "change_weighted",
        "fixed_interval",
        "nutch",
        "stormcrawler",
        "lambda_crawl",
        "lambda_naive",
        "portfolio",
    ] = "clock"
    worth_new: Wait = Duration("1d")
    half_life: Wait = Duration("1d")
    expiry: Wait = Duration("2d")
    site_floor: Share = 0.1
    max_interval: Wait = Duration("30d")
    interval: Wait = Duration("1d")
    changes_per_day: Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)] = 0.2
    arms: tuple[Arm, ...] = ("clock", "oldest_first")
    exploration: Share = 0.1


class LogSettings(Settings):
    """What is said while running."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    fetches: FilePath | None = None


class MetricsSettings(Settings):
    """Numbers for Prometheus, for whoever may reach the address."""

    port: Port | None = None
    address: Text = "127.0.0.1"


class SiteSettings(Settings):
    """One shop to crawl: where to begin, what belongs to it, how much."""

    name: Text
    start: tuple[WebUrl, ...]
    sitemaps: tuple[WebUrl, ...] = ()
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    hosts: tuple[Host, ...] = ()
    max_depth: Count | None = None
    max_pages: Positive = 100_000
    delay: Duration | None = None
    drop_parameters: tuple[Text, ...] = ()
    keep_parameters: tuple[Text, ...] | None = None
    price_selector: Selector | None = None
    price_path: JsonPath | None = None
    currency: Currency | None = None
    country: Country | None = None
    timezone: Zone = "UTC"
    importance: tuple[Weighted, ...] = ()
    # A table in a table stands last, as TOML wants it: what follows would belong to it.
    budget: BudgetSettings = BudgetSettings()

    @field_validator("start")
    @classmethod
    def _begins_somewhere(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # A min_length would count valid items only, and complain twice about one bad URL.
        if not value:
            raise UnfitError("want at least one URL")
        return value

    @model_validator(mode="before")
    @classmethod
    def _named_after_its_host(cls, data: Any) -> Any:
        # Without a host the start URLs are at fault, and a second fault for the name would only distract.
        return {"name": site_name(data) or "unnamed", **data} if isinstance(data, dict) else data


class Config(Settings):
    """All settings, as handed down."""

    crawl: CrawlSettings = CrawlSettings()
    budget: BudgetSettings = BudgetSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetch: FetchSettings = FetchSettings()
    robots: RobotsSettings = RobotsSettings()
    reading: ReadingSettings = ReadingSettings()
    planning: PlanningSettings = PlanningSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    site: tuple[SiteSettings, ...] = ()


def site_name(data: dict[str, Any]) -> str:
    """The name given, else the host of the first start URL, else nothing."""
    start = data.get("start")
    first = start[0] if isinstance(start, list | tuple) and start else None
    return str(data.get("name") or (host_of(first) if isinstance(first, str) else ""))
