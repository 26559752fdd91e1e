"""The operator's settings: one TOML file, checked whole, frozen and handed down."""

from crawler.config.faults import ConfigError, Fault
from crawler.config.load import Loaded, load_config
from crawler.config.model import (
    BudgetSettings,
    Config,
    CrawlSettings,
    FetchSettings,
    LogSettings,
    PolitenessSettings,
    ReadingSettings,
    RobotsSettings,
    SiteSettings,
)
from crawler.config.ready import live_run_faults, sites_from_urls
from crawler.config.units import Duration, Size

__all__ = [
    "BudgetSettings",
    "Config",
    "ConfigError",
    "CrawlSettings",
    "Duration",
    "Fault",
    "FetchSettings",
    "Loaded",
    "LogSettings",
    "PolitenessSettings",
    "ReadingSettings",
    "RobotsSettings",
    "SiteSettings",
    "Size",
    "live_run_faults",
    "load_config",
    "sites_from_urls",
]
