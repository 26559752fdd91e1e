"""Simulated robots.txt, sitemaps and feeds as text."""

from datetime import UTC, datetime
from email.utils import formatdate
from xml.sax.saxutils import escape, quoteattr

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
        lastmod = f"<lastmod>{_iso(entry.changed_at)}</lastmod>"
    return f"<{tag}><loc>{escape(origin + entry.path)}</loc>{lastmod}</{tag}>"


def render_feed(site: Site, page: FeedPage, origin: str) -> str:
    return _atom(site, page, origin) if page.is_atom else _rss(site, page, origin)


def _rss(site: Site, page: FeedPage, origin: str) -> str:
    items = "\n".join(
        f"<item><title>{escape(item.title)}</title><link>{escape(origin + item.path)}</link>"
        f"<pubDate>{formatdate(item.at, usegmt=True)}</pubDate></item>"
        for item in page.items
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
        f"<title>{escape(site.host)}</title><link>{origin}/</link><description>New</description>\n"
        f"{items}\n</channel></rss>\n"
    )


def _atom(site: Site, page: FeedPage, origin: str) -> str:
    entries = "\n".join(
        f"<entry><title>{escape(item.title)}</title><id>{escape(origin + item.path)}</id>"
        f'<link rel="alternate" href={quoteattr(origin + item.path)}/>'
        f"<updated>{_iso(item.at)}</updated></entry>"
        for item in page.items
    )
    updated = _iso(page.items[0].at if page.items else site.shop.starts_at)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>{escape(site.host)}</title><id>{origin}{page.path}</id><updated>{updated}</updated>\n"
        f"{entries}\n</feed>\n"
    )


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
