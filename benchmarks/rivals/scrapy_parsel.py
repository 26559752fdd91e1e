"""Scrapy with parsel selectors, set to go as fast as it can."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.rivals.job import IN_FLIGHT, Done, Job, Shelf, measure, price_in


class ShopSpider(scrapy.Spider):  # type: ignore[misc, unused-ignore]  # the peers are optional
    name = "shop"

    def __init__(self, origins: tuple[str, ...], shelf: Shelf) -> None:
        super().__init__()
        self._origins = origins
        self._shelf = shelf
        self._seen: set[str] = set()

    async def start(self) -> AsyncIterator[Any]:
        for origin in self._origins:
            yield scrapy.Request(f"{origin}/", cb_kwargs={"origin": origin})

    def parse(self, response: Response, origin: str) -> Iterator[Any]:
        links = dict.fromkeys(
            response.urljoin(href).partition("#")[0]
            for href in response.css("a::attr(href)").getall()
        )
        new = [url for url in links if url.startswith(origin) and url not in self._seen]
        self._seen.update(new)
        data = response.css('script[type="application/ld+json"]::text').get()
        self._shelf.put(
            response.url,
            response.css("title::text").get(),
            price_in(data) if data else None,
            (response.headers.get("ETag") or b"").decode(),
            new,
        )
        for url in new:
            yield scrapy.Request(url, cb_kwargs={"origin": origin})


def crawl(job: Job) -> Done:
    shelf = Shelf(job.database)
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": IN_FLIGHT,
            "DOWNLOAD_DELAY": 0,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_ENABLED": False,
            "REFERER_ENABLED": False,
        }
    )
    process.crawl(ShopSpider, origins=job.origins, shelf=shelf)
    process.start()
    shelf.save()
    return Done(shelf.pages)


if __name__ == "__main__":
    measure(crawl)
