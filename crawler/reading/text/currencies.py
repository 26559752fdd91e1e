"""Which ISO-4217 currency does a sign on a page mean?  Tables and one lookup."""

import re
from functools import lru_cache

from crawler.reading.text.words import words

CODES = words(
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
    "GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK "
    "LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD "
    "OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
    "SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER "
    "ZAR ZMW ZWL DEM FRF ITL ESP PTE HRK LTL LVL EEK SKK SIT BYR RUR"
)

# Signs with one meaning.  Lower case; a trailing dot is dropped before the lookup.
_SIGNS = {
    "€": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "eur": "EUR",
    "ευρώ": "EUR",
    "us$": "USD",
    "u$s": "USD",
    "a$": "AUD",
    "au$": "AUD",
    "aud$": "AUD",
    "c$": "CAD",
    "ca$": "CAD",
    "cad$": "CAD",
    "nz$": "NZD",
    "nzd$": "NZD",
    "s$": "SGD",
    "sgd$": "SGD",
    "hk$": "HKD",
    "nt$": "TWD",
    "r$": "BRL",
    "mx$": "MXN",
    "rd$": "DOP",
    "tt$": "TTD",
    "j$": "JMD",
    "z$": "ZWL",
    "mop$": "MOP",
    "bz$": "BZD",
    "n$": "NAD",
    "ars$": "ARS",
    "clp$": "CLP",
    "usd$": "USD",
    "₹": "INR",
    "र": "INR",
    "руб": "RUB",
    "рублей": "RUB",
    "₽": "RUB",
    "р": "RUB",
    "грн": "UAH",
    "₴": "UAH",
    "zł": "PLN",
    "zl": "PLN",
    "kč": "CZK",
    "kc": "CZK",
    "ft": "HUF",
    "lei": "RON",
    "ron": "RON",
    "лв": "BGN",
    "дин": "RSD",
    "din": "RSD",
    "dinara": "RSD",
    "km": "BAM",
    "ден": "MKD",
    "₺": "TRY",
    "tl": "TRY",
    "₪": "ILS",
    "₩": "KRW",
    "원": "KRW",
    "円": "JPY",
    "元": "CNY",
    "rmb": "CNY",
    "₫": "VND",
    "vnđ": "VND",
    "đ": "VND",
    "฿": "THB",
    "บาท": "THB",
    "₱": "PHP",
    "php": "PHP",
    "rp": "IDR",
    "rm": "MYR",
    "₦": "NGN",
    "₵": "GHS",
    "₸": "KZT",
    "тг": "KZT",
    "тенге": "KZT",
    "₼": "AZN",
    "₾": "GEL",
    "₲": "PYG",
    "₡": "CRC",
    "৳": "BDT",
    "؋": "AFN",
    "﷼": "IRR",
    "تومان": "IRT",
    "ريال": "SAR",
    "ر.س": "SAR",
    "د.إ": "AED",
    "dhs": "AED",
    "dh": "MAD",
    "kd": "KWD",
    "bd": "BHD",
    "dt": "TND",
    "s/": "PEN",
    "b/": "PAB",
    "₭": "LAK",
    "៛": "KHR",
    "₮": "MNT",
    "tsh": "TZS",
    "ksh": "KES",
    "ush": "UGX",
    "mk": "MWK",
    "um": "MRU",
    "nu": "BTN",
    "fdj": "DJF",
    "fg": "GNF",
    "fr": "CHF",
    "sfr": "CHF",
    "₣": "CHF",
    "₿": "XBT",
    "bs": "BOB",
    "som": "KGS",
}
# Tomans are counted in tens of rials and have no ISO code; IRT is what shops write.

# Signs shared by several currencies: the country decides, and without one nothing is claimed.
_BY_COUNTRY: dict[str, dict[str, str]] = {
    "$": {
        "US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "TW": "TWD",
        "MX": "MXN", "CL": "CLP", "AR": "ARS", "CO": "COP", "UY": "UYU", "EC": "USD", "SV": "USD",
        "PR": "USD", "DO": "DOP", "JM": "JMD", "TT": "TTD", "BB": "BBD", "BS": "BSD", "BZ": "BZD",
        "FJ": "FJD", "NA": "NAD", "BR": "BRL", "PA": "USD",
    },
    "£": {"": "GBP", "GB": "GBP", "UK": "GBP", "IE": "GBP", "GI": "GIP", "EG": "EGP", "LB": "LBP"},
    "¥": {"JP": "JPY", "CN": "CNY"},
    "kr": {"SE": "SEK", "NO": "NOK", "DK": "DKK", "IS": "ISK", "FO": "DKK", "GL": "DKK"},
    "rs": {"IN": "INR", "PK": "PKR", "LK": "LKR", "NP": "NPR", "MU": "MUR"},
    "cfa": {"SN": "XOF", "CI": "XOF", "BJ": "XOF", "BF": "XOF", "ML": "XOF", "NE": "XOF", "TG": "XOF",
            "CM": "XAF", "GA": "XAF", "CG": "XAF", "TD": "XAF", "CF": "XAF", "GQ": "XAF"},
    "ld": {"LR": "LRD", "LY": "LYD"},
    "l": {"RO": "RON", "MD": "MDL", "HN": "HNL"},
    "f": {"CH": "CHF"},
    "q": {"GT": "GTQ"},
    "r": {"ZA": "ZAR"},
}  # fmt: skip
_SHARED_ALIASES = {
    "₨": "rs",
    "fcfa": "cfa",
    "￥": "¥",
    "＄": "$",
    "￡": "£",
    ",-kr": "kr",
    "kr.": "kr",
}

_COUNTRY_CURRENCY = {
    **{country: code for table in _BY_COUNTRY.values() for country, code in table.items() if country},
    **dict.fromkeys(
        words("AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK"), "EUR"
    ),
    "CH": "CHF", "PL": "PLN", "CZ": "CZK", "HU": "HUF", "BG": "BGN", "RU": "RUB", "UA": "UAH",
    "TR": "TRY", "IL": "ILS", "KR": "KRW", "VN": "VND", "TH": "THB", "PH": "PHP", "ID": "IDR",
    "MY": "MYR", "PE": "PEN", "GB": "GBP", "UK": "GBP", "AE": "AED", "SA": "SAR", "BR": "BRL",
}  # fmt: skip

_WORDS = "|".join(
    re.escape(sign)
    for sign in sorted(
        {*_SIGNS, *_SHARED_ALIASES, *(s for s in _BY_COUNTRY if len(s) > 1)}, key=len, reverse=True
    )
)
_CODE_LIST = "|".join(sorted(CODES))
CODE_PATTERN = rf"(?<![^\W\d_])(?:{_CODE_LIST})(?:\s?[$€£])?(?![^\W\d_])"
# A sign made of letters must stand alone ("Rs206" may touch its digits, "Rsomething" is a word).
SIGN_PATTERN = (
    rf"(?:{CODE_PATTERN}|(?<![^\W\d_])(?:US|AU|CA|NZ|HK|NT|MX)\s\$"
    rf"|[$€£¥₹₽₴₺₪₩₫฿₱₦₵₸₼₾₲₡৳؋﷼₭៛₮₣₿₨र￥＄￡]"
    rf"|(?<![^\W\d_])(?i:{_WORDS}|[lfqr])(?![^\W\d_])\.?)"
)

_SIGN = re.compile(SIGN_PATTERN)


@lru_cache(maxsize=4096)
def currency_of(sign: str, country: str | None = None) -> str | None:
    """The ISO code a code or sign stands for, or None when it is unknown or the country must decide."""
    text = sign.strip()
    code = text.upper().rstrip("$€£. ")
    if len(code) == 3 and code in CODES:
        return "RUB" if code == "RUR" else code
    word = text.lower().replace(" ", "")  # "US $"
    word = _SHARED_ALIASES.get(word, word)
    for form in (word, word.rstrip(".")):
        if form in _SIGNS:
            return _SIGNS[form]
        if form in _BY_COUNTRY:
            table = _BY_COUNTRY[form]
            return table.get((country or "").upper()) or table.get("")
    return None


def fits_sign(text: str, code: str) -> bool:
    """Can an amount written like this be in that currency?  "$ 5" can be in CLP and cannot be in EUR."""
    signs = (found[0].lower().rstrip(".") for found in _SIGN.finditer(text))
    tables = (_BY_COUNTRY.get(_SHARED_ALIASES.get(sign, sign)) for sign in signs)
    return all(code in table.values() for table in tables if table is not None)


def currency_of_country(country: str | None) -> str | None:
    """What shops in a country charge in, where that is one currency."""
    return _COUNTRY_CURRENCY.get((country or "").upper())
