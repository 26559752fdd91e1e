"""A living shop to crawl: prices move, offers come and go, served on loopback or in process."""
