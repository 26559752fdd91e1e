"""Pages that must not be believed have a name, and shop pages never get one."""

import pytest

from crawler.reading.facts import PageKind, Trouble
from crawler.reading.page import read_page
from tests.crawler.reading.pages import CARDS, URL, html, ld, product, read

WALLS = {
    "cloudflare": (
        "Just a moment...",
        '<h1>shop.example</h1><p>Checking if the site connection is secure</p><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1"></script>',
    ),
    "cloudflare block": (
        "Attention Required! | Cloudflare",
        "<h1>Sorry, you have been blocked</h1><p>You are unable to access shop.example</p><span>Cloudflare Ray ID: 7d1f</span>",
    ),
    "amazon": (
        "Robot Check",
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p><form action=/errors/validateCaptcha></form>",
    ),
    "datadome": ("shop.example", '<script>var dd={"rt":"c"}</script><script src="https://ct.captcha-delivery.com/c.js"></script>'),
    "perimeterx": ("Access to this page has been denied", '<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human</p>'),
    "akamai": ("Access Denied", "<h1>Access Denied</h1><p>You don't have permission to access this server.</p><p>Reference #18.2f</p>"),
    "imperva": ("", '<iframe src="/_Incapsula_Resource?SWUDNSAI=31">Request unsuccessful. Incapsula incident ID: 1-2</iframe>'),
    "recaptcha": ("Security check", '<p>Please complete the security check</p><div class="g-recaptcha"></div>'),
    "german": ("Sicherheitsüberprüfung", '<p>Bist du ein Mensch?</p><div class="h-captcha"></div>'),
}  # fmt: skip


@pytest.mark.parametrize("name", WALLS)
def test_a_bot_wall_is_named(name: str) -> None:
    title, body = WALLS[name]
    facts = read(body, title=title)
    assert facts.trouble is Trouble.BOT_WALL
    assert facts.offers == ()


def test_a_forbidden_page_that_says_so_is_a_wall() -> None:
    facts = read(
        "<p>Your request has been blocked due to suspicious activity</p>", title="", status=403
    )
    assert facts.trouble is Trouble.BOT_WALL


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "Before you continue",
            "<h1>Before you continue</h1><p>We use cookies and data to deliver our services. If you choose to accept all, our partners "
            "use cookies for personal data.</p><button>Reject all</button><button>Accept all</button>",
        ),
        (
            "Datenschutz-Einstellungen",
            "<p>Wir und unsere partners setzen Cookies ein. Mit consent und cookies nach GDPR ...</p><button>Alle akzeptieren</button>",
        ),
    ],
)
def test_a_consent_page_is_named(title: str, body: str) -> None:
    assert read(body, title=title).trouble is Trouble.CONSENT


@pytest.mark.parametrize(
    ("title", "body", "lang"),
    [
        ("404 | Shop", "<h1>Oh no</h1>", "en"),
        ("Shop", "<h1>Page not found</h1><p>Try our search.</p>", "en"),
        ("Shop", "<h1>We can't find that page</h1>", "en"),
        ("Seite nicht gefunden", "<h1>Leider</h1>", "de"),
        ("Shop", "<h1>Cette page est introuvable</h1>", "fr"),
        ("Shop", "<h1>Страница не найдена</h1>", "ru"),
        ("Kettle | Shop", "<h1>This product is no longer available</h1>", "en"),
    ],
)
def test_a_soft_404_is_named(title: str, body: str, lang: str) -> None:
    menu = "".join(f'<a href="/c/{i}">Category {i}</a>' for i in range(40))
    assert read(f"<nav>{menu}</nav>{body}", title=title, lang=lang).trouble is Trouble.SOFT_404


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("503 Service Unavailable", "<h1>503 Service Unavailable</h1>"),
        ("Shop", "<h1>Something went wrong</h1><p>Please try again later.</p>"),
        ("Shop", "<h1>We'll be back soon</h1><p>Scheduled maintenance.</p>"),
        ("Error", "<p>Error establishing a database connection</p>"),
        ("Shop", "<p>Fatal error: Uncaught Exception in /var/www/index.php</p>"),
        ("Wartungsarbeiten", "<p>Wir sind bald zurück.</p>"),
    ],
)
def test_an_error_page_with_200_is_named(title: str, body: str) -> None:
    assert read(body, title=title).trouble is Trouble.ERROR_PAGE


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><script src="/static/main.js"></script>',
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="app"></div><script src=a.js></script>',
        '<app-root></app-root><script src="runtime.js"></script>',
    ],
)
def test_an_empty_shell_is_named(body: str) -> None:
    assert read(body).trouble is Trouble.EMPTY_SHELL


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7 binary", None),
        (b'{"price": 3}', None),
        (b"\x89PNG....", "text/html"),
        (b"<html></html>", "application/json"),
    ],
)
def test_what_is_no_html_is_named(body: bytes, content_type: str | None) -> None:
    assert read_page(body, url=URL, content_type=content_type).trouble is Trouble.NOT_HTML


SHOP_PAGES = {
    "offer with captcha script": (
        '<h1>Kettle</h1><b class=price>€49.90</b><div class="g-recaptcha"></div><p>Accept all cookies? cookies cookies</p>',
        ld(product()),
    ),
    "listing with a cookie banner": (
        f"<h1>Pots</h1><ul>{CARDS}</ul><div>We use cookies, cookies, consent. <button>Accept all</button></div>",
        "",
    ),
    "an article about errors": (
        "<h1>How we fixed our checkout</h1>" + "<p>We measured and changed many small things over the year.</p>" * 10,
        "",
    ),
    "sold out without a price": (
        "<h1>Kettle</h1><p>Sold out</p>",
        ld(product() | {"offers": {"@type": "Offer", "availability": "OutOfStock"}}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOP_PAGES)
def test_a_shop_page_is_no_trouble(name: str) -> None:
    body, head = SHOP_PAGES[name]
    assert read(body, head=head).trouble is None


def test_trouble_leaves_no_offer_and_no_card() -> None:
    facts = read_page(html("<h1>Page not found</h1><b class=price></b>"), url=URL)
    assert (facts.trouble, facts.offers, facts.cards) == (Trouble.SOFT_404, (), ())
    assert facts.kind is PageKind.OTHER
