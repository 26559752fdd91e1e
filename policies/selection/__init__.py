"""Choosing the best pages without valuing every page."""
