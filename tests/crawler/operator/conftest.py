"""One crawled shop for all tests that only read it."""

from pathlib import Path

import pytest

from crawler.config import Config
from tests.crawler.operator.small_shop import crawled


@pytest.fixture(scope="session")
def shop_config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Settings of a crawl that has been done.  Its database must not be changed."""
    folder: Path = tmp_path_factory.mktemp("shop")
    return crawled(folder / "shop.db")
