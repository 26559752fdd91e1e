"""Which sources to fetch for new pages."""
