"""Crawlers that fetch the same site and do the same work, each run in a process of its own.

The work: every page of the site fetched once, robots.txt obeyed, its title, price (JSON-LD) and links read, links
joined and followed on the same host, and page, price and known links stored in SQLite.
"""
