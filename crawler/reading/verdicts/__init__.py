"""What to make of a page: its kind, whether to believe it, whether it changed."""
