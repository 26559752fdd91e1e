"""Crawlee's ParselCrawler with its queue in memory, set to go as fast as it can."""

import asyncio
import logging

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from benchmarks.rivals.job import IN_FLIGHT, Done, Job, Shelf, measure, price_in


async def _crawl(job: Job) -> int:
    shelf = Shelf(job.database)
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=IN_FLIGHT, max_concurrency=IN_FLIGHT, desired_concurrency=IN_FLIGHT
        ),
        respect_robots_txt_file=True,
        use_session_pool=False,
        configure_logging=False,
        statistics_log_format="inline",
    )
    seen: set[str] = set()

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        page, url = context.selector, context.request.url
        links = await context.extract_links(strategy="same-hostname")
        new = [link for link in links if link.url not in seen]
        seen.update(link.url for link in new)
        await context.add_requests(new)
        data = page.css('script[type="application/ld+json"]::text').get()
        etag = context.http_response.headers.get("etag")
        title = page.css("title::text").get()
        shelf.put(url, title, price_in(data) if data else None, etag, [link.url for link in new])

    await crawler.run([f"{origin}/" for origin in job.origins])
    shelf.save()
    return shelf.pages


def crawl(job: Job) -> Done:
    logging.disable(logging.CRITICAL)
    return Done(asyncio.run(_crawl(job)))


if __name__ == "__main__":
    measure(crawl)
