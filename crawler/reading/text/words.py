"""Sets of words, written the way one reads them."""


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
