"""Measurements: every script takes --seed and --json, and --data DIR where it reads recordings."""
