"""Sitemaps and feeds: pages with their time stamps, streamed in flat memory."""
