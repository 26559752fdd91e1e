"""Exact simulated worlds at array level, to measure policies in."""
