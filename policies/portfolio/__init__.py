"""Bandits over strategies."""
