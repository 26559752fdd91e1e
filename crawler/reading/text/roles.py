"""What a printed price is for: the words and marks around it tell prices apart.

A shop page prints many amounts: the selling price, the struck-through one, a price per kilogram,
an instalment, shipping, a saving, the basket, and the prices of other products.
"""

import re
from functools import lru_cache

from crawler.reading.text.words import words

# "product-price--old", "priceOld" and "old_price" all hold the word "old".
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])")

# In this order: the first that applies names the role.
_BY_NAME: tuple[tuple[str, frozenset[str]], ...] = (
    ("other", words(
        "related recommend recommended recommendation recommendations similar upsell upsells crosssell crosssells "
        "cross carousel slider swiper slick recently viewed also accessories bundle bundles sponsored "
        "cart minicart basket checkout wishlist comparison filter facet facets footer nav menu "
        "suggestions complementary alternatives bought together"
    )),
    ("list", words(
        "old was list rrp msrp uvp srp strike striked strikethrough struck crossed through linethrough "
        "before compareat original previous prev retail stara barre ancien anterior antes reference "
        "undiscounted market oldprice listprice wasprice originalprice rrpprice pricewas priceold"
    )),
    ("saving", words("save saved saving savings off percent percentage badge coupon voucher rebate")),
    ("unit", words("unit perunit unitprice ppu baseprice grundpreis per kg litre liter measure")),
    ("instalment", words(
        "installment installments instalment instalments monthly month finance financing leasing klarna "
        "afterpay affirm clearpay paypal rate rates parcela parcelas parcelamento credit"
    )),
    ("shipping", words("shipping delivery versand livraison envio spedizione dostawa freight postage")),
    ("net", words("excl excluding exvat extax net netto withouttax notax")),
    ("regular", words("regular regularprice normal full base")),
    ("points", words("points reward rewards loyalty bonus cashback tax vat mwst fee deposit")),
)  # fmt: skip
# "discounted price" and "offer price" are what the shopper pays, whatever else the name says.
_SELLING = words(
    "current sale now final special selling actual new promo salesprice saleprice pricenow discountedprice"
)

_BY_TEXT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("unit", re.compile(
        r"(?:/|\bper\b|\bpro\b|\bje\b|\bpar\b|\bal\b|\bpor\b|\bza\b)\s?"
        r"(?:\d+[.,]?\d*\s?)?(?:kg|g|gr|100\s?g|l|lt|ltr|ml|m|m2|m²|m³|cm|litre|liter|litro|litr|kilo|"
        r"oz|lb|dose|tab|wash|sheet)\b", re.IGNORECASE)),
    ("instalment", re.compile(
        r"(?:/|\bper\b|\ba\b|\bpro\b|\bpar\b|\bal\b|\bpor\b|\bx\b)\s?(?:mo\b|month|monat|mois|mes\b|mês|mese|miesi|měs)"
        r"|instal+ment|monthly|ratenzahlung|en \d+ fois|interest|sem juros|parcela|raty\b",
        re.IGNORECASE)),
    ("shipping", re.compile(
        r"shipping|delivery|versand|livraison|env[ií]o|spedizione|dostaw|doprava|frete|postage|доставк|verzend|frakt|"
        r"orders? (?:over|above)|spend ", re.IGNORECASE)),
    ("saving", re.compile(
        r"\bsave\b|\bsaving|\byou save|\bspar(?:en|t|e)\b|\bersparnis|[ée]conomi|ahorr|risparm|\boff\b|sconto|rabatt|"
        r"rabat|sleva|скидк|экономи|descuento|desconto|remise|discount|cash ?back|gift card|voucher|coupon", re.IGNORECASE)),
    ("net", re.compile(
        r"\bexc?l?\.?\s?(?:vat|tax|gst|btw|mwst|moms|iva)|\bexcl(?:uding)?\b|\bexkl\b|\bohne mwst|\bzzgl\.? mwst|\bnetto\b|"
        r"\bhors taxes|\bht\b|\bbez dph|\biva esclusa|\+ ?(?:vat|iva|mwst|dph)\b|\bsin iva|без ндс", re.IGNORECASE)),
    ("list", re.compile(
        r"\b(?:was|rrp|msrp|uvp|srp|list price|regular price|before|previously|statt|vorher|bisher|instead of|"
        r"prix conseill|au lieu de|antes|prima|precio anterior|de:|původní|poprzednia|najniższa|lowest price|"
        r"běžná cena|стар|раньше|orig(?:inal)?\.?(?: price)?|comp(?:are)?\.? at|retail|pvpr|adviesprijs|van)\b",
        re.IGNORECASE)),
    ("selling", re.compile(
        r"\b(?:now|our price|sale price|special price|your price|jetzt|nur|aktionspreis|angebot|prix promo|maintenant|ahora|por:|"
        r"oggi|teraz|nyní|naše cena|цена со скидкой)\b", re.IGNORECASE)),
)  # fmt: skip
_AFTER = frozenset({"unit", "instalment", "shipping", "net"})
_TIMES = re.compile(r"\b\d{1,2}\s?[x×](?:\s?de)?\s?[^\d\s]{0,4}\s?$", re.IGNORECASE)  # "12x R$ "
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
STRUCK_TAGS = frozenset({"del", "s", "strike"})
STRUCK_STYLE = re.compile(r"line-through")


@lru_cache(maxsize=4096)
def role_of_names(names: str) -> str | None:
    """The role that class names and ids give a price, "selling" for the price itself, or None."""
    named = {word.lower() for word in _WORD.findall(names[:300])}
    if "add" in named or "addtocart" in named:
        named -= {"cart", "basket"}  # the block with the button that adds to the cart
    if {"non", "sale"} <= named:
        return "list"  # "price--non-sale" stands beside the sale price
    role = next((role for role, marks in _BY_NAME if named & marks), None)
    if role in ("list", "other"):
        return role
    if named & _SELLING:
        return "selling"
    return role


def role_of_text(before: str, after: str) -> str | None:
    """The role that the words just before and just after a price give it, or None.

    Words before another number belong to that number: in "was 20 now 15" only "now" speaks of 15.
    """
    if not _LETTER.search(before) and not _LETTER.search(after):
        return None  # most prices stand alone
    lead = _DIGIT.split(before[-40:])[-1]
    tail = _DIGIT.split(after[:25])[0] if "%" not in after[:8] else ""
    if _TIMES.search(before[-12:]):
        return "instalment"
    for role, pattern in _BY_TEXT:
        if pattern.search(lead) or (role in _AFTER and pattern.search(tail)):
            return role
    return None
