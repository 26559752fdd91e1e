"""May one page stand for another?  rel=canonical and redirects are claims; some are mistakes.

A believed claim makes the page an alias, and only the target is fetched from then on.  So a theme that names the
home page as canonical everywhere would erase a shop: such claims are refused and counted.
"""

import re
from enum import StrEnum

from crawler.reading.urls import host_name, host_of, registered_domain


class Alias(StrEnum):
    """What becomes of a claim.  Only ALIAS is acted upon."""

    SAME = "same_page"
    ALIAS = "alias"
    HOME_PAGE = "canonical_is_home_page"
    OTHER_SITE = "canonical_on_other_site"
    TOO_MANY = "canonical_of_too_many"


# Variants of a product share its path and differ in the query; whole listings do too.
MAX_VARIANTS = 500
# Different paths for one page: a product in several categories.  Above that it is a template's mistake.
MAX_PATHS = 20

_HOME = re.compile(
    r"https?://[^/]+/(?:[a-z]{2}(?:[-_][a-z]{2})?/?|index\.\w{2,5}|home/?)?", re.IGNORECASE
)


def judge_alias(page: str, target: str | None, *, claims: int) -> Alias:
    """Whether `page`, which names `target` as its proper address, is believed.

    Both are canonical URLs; `claims` counts the other pages that name the same target.
    """
    if target is None or target == page:
        return Alias.SAME
    if host_of(page) != host_of(target) and _site(page) != _site(target):
        return Alias.OTHER_SITE
    same_path = _path(page) == _path(target)
    if not same_path and _HOME.fullmatch(target) and not _HOME.fullmatch(page):
        return Alias.HOME_PAGE
    if claims >= (MAX_VARIANTS if same_path else MAX_PATHS):
        return Alias.TOO_MANY
    return Alias.ALIAS


def _site(url: str) -> str:
    return registered_domain(host_name(host_of(url)))


def _path(url: str) -> str:
    """The path without its last slash: shops differ in nothing more often."""
    return "/" + "/".join(url.partition("?")[0].split("/")[3:]).rstrip("/")
