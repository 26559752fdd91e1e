"""Bandits over strategies: which strategy fills the next tick, or how much of it.

`exp3`, `exp3_ix` and `exp3_plus_plus` give a tick to one strategy; `hedge_mix` lets every strategy
propose rates and mixes them page by page.  All are values: learning returns a new state.  KAB2 to
KAB5 of 000 are lists of strategies given to them, not code.
"""
