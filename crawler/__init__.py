"""Do: fetch, read, store and learn, one tick at a time.  May use `policies` and `storage`."""

__version__ = "0.1.0"
