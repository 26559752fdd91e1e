"""What a fetch of a page is worth now."""
