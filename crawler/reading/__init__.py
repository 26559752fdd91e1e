"""From bytes and a URL to facts: links, sources, offers.  Pure: no I/O, no clock."""
