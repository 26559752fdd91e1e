"""What the simulated shops sell: names by number.  Some carry &, quotes and accents, as real ones do."""

import re
import unicodedata

CATEGORIES = (
    "Garden", "Tools", "Toys & Games", "Books", "Kitchen", "Lighting", "Outdoor", "Café & Tea",
    "Bath", "Office", "Pets", "Music", "Sport", "Travel", "Home Textiles", "Electronics",
)  # fmt: skip
BRANDS = (
    "Alder", "Black & Oak", "Corvane", "Délice", "Elmwick", "Fjordby", "Grün", "Hartwell's",
    "Istra", "Juno", "Kestrel", "Lumen", "Mørk", "Norrland", "Ostara", "Pell & Co",
)  # fmt: skip
_ADJECTIVES = (
    "compact", "folding", "cordless", "solid", "light", "double", "classic", "quiet", '19"',
    "rustic", "slim", "stackable", "waterproof", "grand", "travel", "<mini>", "robust",
)  # fmt: skip
_NOUNS = (
    "lamp", "kettle", "drill", "hammock", "puzzle", "notebook", "grinder", "backpack", "stool",
    "planter", "speaker", "blanket", "toolbox", "teapot", "shelf", "torch", "scale", "mirror", "fan",
)  # fmt: skip
_PROSE = (
    "Made for daily use and tested for years in our own workshop.",
    "The finish is easy to clean and keeps its colour in the sun.",
    "Spare parts are available, so a small defect is no reason to buy a new one.",
    "Delivered in a box without plastic; please keep it for returns.",
    "Assembly takes about ten minutes; all that is needed is included.",
    "Our customers like it as a gift, and often come back for a second one.",
    "Two years of guarantee, honoured without discussion.",
)


def brand(number: int) -> str:
    return BRANDS[number * 7 % len(BRANDS)]


def title(number: int) -> str:
    adjective = _ADJECTIVES[number * 5 % len(_ADJECTIVES)]
    noun = _NOUNS[number * 11 % len(_NOUNS)]
    return f"{brand(number)} {adjective} {noun} {100 + number % 900}"


def prose(number: int, sentences: int = 3) -> str:
    return " ".join(_PROSE[(number + k * 3) % len(_PROSE)] for k in range(sentences))


def sku(number: int) -> str:
    return f"SH-{number:06d}"


def gtin13(number: int) -> str:
    """A GTIN-13 in the range for use inside a shop (prefix 20), with a right check digit."""
    body = f"20{number:010d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return body + str(-total % 10)


def slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
