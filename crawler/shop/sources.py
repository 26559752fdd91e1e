"""Simulated robots.txt, sitemaps and feed as text."""

from datetime import UTC, datetime
from email.utils import formatdate
from xml.sax.saxutils import escape

from crawler.shop import goods
from crawler.shop.site import FORBIDDEN, Site
from crawler.shop.views import FeedPage, SitemapEntry, SitemapPage

_SITEMAP_SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def render_robots(site: Site, origin: str) -> str:
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in FORBIDDEN)]
    if site.settings.crawl_delay is not None:
        lines.append(f"Crawl-delay: {site.settings.crawl_delay:g}")
    return "\n".join([*lines, "", f"Sitemap: {origin}/sitemap.xml", ""])


def render_sitemap(page: SitemapPage, origin: str) -> str:
    outer, inner = ("sitemapindex", "sitemap") if page.is_index else ("urlset", "url")
    entries = "\n".join(_entry(entry, inner, origin) for entry in page.entries)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{outer} xmlns="{_SITEMAP_SPACE}">\n'
        f"{entries}\n</{outer}>\n"
    )


def _entry(entry: SitemapEntry, tag: str, origin: str) -> str:
    lastmod = ""
    if entry.changed_at is not None:
        lastmod = f"<lastmod>{datetime.fromtimestamp(entry.changed_at, UTC).isoformat()}</lastmod>"
    return f"<{tag}><loc>{escape(origin + entry.path)}</loc>{lastmod}</{tag}>"


def render_feed(site: Site, page: FeedPage, origin: str) -> str:
    items = "\n".join(_item(site, number, origin) for number in page.numbers)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
        f"<title>{escape(site.host)}</title><link>{origin}/</link><description>New</description>\n"
        f"{items}\n</channel></rss>\n"
    )


def _item(site: Site, number: int, origin: str) -> str:
    link = escape(origin + site.path(number))
    born = formatdate(float(site.born_at[number]), usegmt=True)
    title = escape(goods.title(number))
    return f"<item><title>{title}</title><link>{link}</link><pubDate>{born}</pubDate></item>"
