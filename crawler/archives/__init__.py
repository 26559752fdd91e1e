"""Recorded HTTP: written by a crawl, read from many formats, and replayed as a transport."""
