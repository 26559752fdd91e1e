"""Decide: values, rates, bandits, estimators.  Pure numpy and scipy: no I/O, no clock, no asyncio."""
