"""Hypothesis runs the same examples every time, so that a run can be repeated; HYPOTHESIS_PROFILE=explore draws new ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
