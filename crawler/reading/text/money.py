"""Read an amount and a currency from a piece of text.  Two readings give "ambiguous", never a guess."""

import re
from dataclasses import dataclass
from functools import lru_cache

from crawler.reading.text.currencies import CODE_PATTERN, SIGN_PATTERN, currency_of
from crawler.reading.text.words import words

MAX_TEXT = 400  # a price with its words; longer text is cut, so that work is bounded
_MICROS_DIGITS = 6
_MICROS = 1_000_000
_MAX_WHOLE_DIGITS = 12  # fits a 64-bit integer of millionths

NO_DECIMALS = words("JPY KRW VND IDR CLP PYG ISK HUF IRR IRT UGX RWF XAF XOF COP LAK KHR")
THREE_DECIMALS = words("KWD BHD OMR JOD TND IQD LYD")
# Languages and currencies that write 1.234,56; the rest of the table below writes 1,234.56.
_COMMA_LANGUAGES = words(
    "de fr it es pt nl pl cs sk hu ro bg ru uk tr el sv no nb nn da fi et lv lt hr sl sr id vi is ca"
)
_POINT_LANGUAGES = words("en ja ko zh th he hi ga mt")
_POINT_COUNTRIES = words(
    "US GB UK IE AU NZ CA IN SG HK MY PH ZA MX CH LI JP KR CN TW IL TH MT KE NG PK LK BD"
)
_COMMA_COUNTRIES = words(
    "DE AT FR IT ES PT NL BE PL CZ SK HU RO BG RU UA TR GR SE NO DK FI EE LV LT HR SI RS IS BR AR CL CO UY PY VE EC ID VN"
)
_COMMA_CURRENCIES = words(
    "EUR PLN CZK HUF RON BGN RUB UAH TRY SEK NOK DKK ISK BRL ARS CLP COP UYU PYG IDR VND RSD BAM HRK VES"
)
_POINT_CURRENCIES = words(
    "$ £ ¥ ￥ USD GBP AUD NZD CAD INR SGD HKD MYR PHP ZAR CHF MXN JPY KRW CNY TWD ILS THB AED SAR PKR"
)

_SPACES = " \u00a0\u202f\u2009\u2007"
_NUMBER = (
    rf"(?:\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,][{_SPACES}]?\d{{1,2}}(?!\d))?"
    rf"|\d+(?:[.,'’`´٬٫]\d+)*(?:[.,][{_SPACES}]\d\d(?![\d.,]))?"
    r"|(?<!\d)\.\d\d?(?![\d.,]))"
)
_NEXT_AMOUNT = rf"\s\d+[.,]\d\d(?!\d|\s?(?:{SIGN_PATTERN}))"
_PRICE = re.compile(
    rf"(?:(?P<before>{SIGN_PATTERN})[\s:.]{{0,3}}?)?(?P<number>{_NUMBER})"
    rf"(?P<whole>[.,][-–—]+)?"
    # The sign after an amount is its own, unless the amount has one already ("$5 €6") or the sign
    # belongs to the next amount ("SKU 12345 $9.99", "4.50 CHF 2.25").
    rf"(?(before)(?:\s?(?P<code>{CODE_PATTERN})(?!\s?\d))?|(?P<after>{SIGN_PATTERN}|\s(?:{SIGN_PATTERN})(?!\d)(?!{_NEXT_AMOUNT}))?)",
)
_SIGN = re.compile(SIGN_PATTERN)
_SIMPLE = re.compile(r"([0-9]{1,12})[.,]([0-9]{1,2})")
_MACHINE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")
_CENTS_AFTER_SIGN = re.compile(r"\s?(\d\d)(?![\d.,%])(?!\s?(?:%|[x×]))")
_FREE = re.compile(r"\W*(free|gratis|kostenlos|gratuit|gratuito|бесплатно)\W*", re.IGNORECASE)
_NOW = re.compile(
    r"\b(?:now|jetzt|ahora|maintenant|adesso|ora|agora|teraz|nyní|сейчас)\b", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"(?<![\d.,])\d{1,2}\s?(?:for|für|pour|per|por|voor|за|x|×)\s?(?=\D{0,6}\d)", re.IGNORECASE
)
_DIGITS = {
    zero + value: ord("0") + value
    for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xE50, 0xFF10)
    for value in range(10)
} | {0xFF0C: ord(","), 0xFF0E: ord(".")}


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in millionths and an ISO-4217 code; `ambiguous` when the amount has two readings."""

    price_micros: int | None
    currency: str | None
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class PriceMatch:
    """A price inside a longer text."""

    start: int
    end: int
    money: Money
    signed: bool


NOTHING = Money(None, None)


def parse_price(
    text: str | None,
    *,
    currency_hint: str | None = None,
    decimal_hint: str | None = None,
    language: str | None = None,
    country: str | None = None,
) -> Money:
    """The price a short text states: the first one, unless its words ("now") point to another.

    `currency_hint` is a code, a sign or a text that holds one; the text itself goes first.
    `decimal_hint` is the decimal separator when it is known (structured data writes a point).
    """
    text = (text or "")[:MAX_TEXT]
    hinted = _hinted_currency(currency_hint, country)
    if _MACHINE.fullmatch(text):  # most structured prices: no second reading, no currency inside
        return Money(_micros(*text.partition(".")[::2]), hinted)
    if _FREE.fullmatch(text):
        return Money(0, hinted)
    if _SEVERAL.search(text):
        return Money(None, hinted, ambiguous=True)
    found = find_prices(
        text, currency=hinted, decimal_hint=decimal_hint, language=language, country=country
    )
    if not found:
        return Money(None, hinted)
    now = _NOW.search(text) if len(found) > 1 else None
    after_now = [match for match in found if now and match.start >= now.end() - 1]
    signed = [match for match in found if match.signed]
    return (after_now or signed or found)[0].money


def find_prices(
    text: str,
    *,
    currency: str | None = None,
    decimal_hint: str | None = None,
    language: str | None = None,
    country: str | None = None,
) -> list[PriceMatch]:
    """Every number in the text that could be a price, with the currency written beside it."""
    plain = _plain(text[:MAX_TEXT])
    found = []
    for match in _PRICE.finditer(plain):
        end = match.end()
        if plain[end : end + 2].lstrip().startswith("%") or _inside_word(plain, match):
            continue
        before, number, whole, code, after = match.groups()
        sign = before or (after or "").strip()
        code = (code and currency_of(code)) or currency_of(sign, country)
        if whole:
            number = number.replace(".", "").replace(",", "")
        cents = _CENTS_AFTER_SIGN.match(plain, end) if after and number.isdigit() else None
        hint = decimal_hint
        if decimal_hint and sign == decimal_hint:
            tail = re.match(r"\d+", plain[end:])
            number, hint = f"{number}.{tail[0]}" if tail else number, "."
        elif cents and not before:
            number, hint, end = f"{number}.{cents[1]}", ".", cents.end()
        known = code or (currency if not sign else None)
        habit = code or sign or currency
        micros = _amount(number, hint, habit, language, country)
        money = Money(micros, known, ambiguous=micros is None)
        found.append(PriceMatch(match.start("number"), end, money, bool(sign)))
    return found


def micros_of_number(value: float | int) -> int | None:
    """A JSON number in millionths; None when it is no sensible amount."""
    if value != value or not -1 < value < 10**_MAX_WHOLE_DIGITS:
        return None
    return round(value * 10**_MICROS_DIGITS) if value >= 0 else None


def _plain(text: str) -> str:
    return text if text.isascii() else text.translate(_DIGITS)


def _inside_word(text: str, match: re.Match[str]) -> bool:
    """Digits glued to letters are a model name ("MX924"), unless the letters are a currency."""
    start, end = match.span("number")
    if text[start - 1 : start].isalpha() and not match["before"]:
        return True
    following = text[end : end + 1]
    return following.isalpha() and following.isascii() and not match["after"]


@lru_cache(maxsize=1024)
def _hinted_currency(hint: str | None, country: str | None) -> str | None:
    if not hint:
        return None
    for match in _SIGN.finditer(hint[:MAX_TEXT]):
        if code := currency_of(match[0], country):
            return code
    return None


def _amount(
    number: str, hint: str | None, currency: str | None, language: str | None, country: str | None
) -> int | None:
    """Millionths, or None when the separators can be read in two ways."""
    if simple := _SIMPLE.fullmatch(number):  # the usual form has one reading
        return _micros(simple[1], simple[2])
    compact = re.sub(rf"[{_SPACES}'’`´٬]", "", number).replace("٫", ".")
    grouped = compact != number and re.search(rf"\d[{_SPACES}'’`´٬]\d{{3}}", number) is not None
    separators = [c for c in compact if c in ".,"]
    if not separators:
        return _micros(compact, "")
    last = separators[-1]
    whole, _, fraction = compact.rpartition(last)
    if len(set(separators)) == 2:
        if separators.count(last) > 1:
            return None
        return _micros(re.sub("[.,]", "", whole), fraction)
    if len(separators) > 1:
        groups = compact.split(last)
        return _micros("".join(groups), "") if _are_thousands(groups) else None
    if len(fraction) != 3 or grouped or not whole or whole.strip("0") == "" or len(whole) > 3:
        return _micros(whole, fraction)
    decimal = _decimal_separator(hint, currency, language, country)
    if (decimal and decimal != last) or currency in NO_DECIMALS:
        return _micros(whole + fraction, "")
    # "1.299" where the point is the decimal sign: three decimals, or a thousand written abroad?
    return _micros(whole, fraction) if last == hint else None


def _are_thousands(groups: list[str]) -> bool:
    """1.234.567, or by lakhs 12,34,567."""
    inner = {len(group) for group in groups[1:-1]}
    return 0 < len(groups[0]) <= 3 and len(groups[-1]) == 3 and (inner <= {3} or inner <= {2})


def _decimal_separator(
    hint: str | None, currency: str | None, language: str | None, country: str | None
) -> str | None:
    """How this shop writes decimals, by the surest evidence: hint, language, country, currency."""
    if hint in (".", ","):
        return hint
    if currency in THREE_DECIMALS:
        return None
    speech = (language or "").split("-")[0].lower()
    return (
        _habit(speech, _POINT_LANGUAGES, _COMMA_LANGUAGES)
        or _habit((country or "").upper(), _POINT_COUNTRIES, _COMMA_COUNTRIES)
        or _habit(currency, _POINT_CURRENCIES, _COMMA_CURRENCIES)
    )


def _habit(name: str | None, point: frozenset[str], comma: frozenset[str]) -> str | None:
    if name in point:
        return "."
    return "," if name in comma else None


def _micros(whole: str, fraction: str) -> int | None:
    whole = whole.lstrip("0")
    if len(whole) > _MAX_WHOLE_DIGITS:
        return None
    kept = fraction[:_MICROS_DIGITS].ljust(_MICROS_DIGITS, "0")
    return int(whole or "0") * _MICROS + int(kept)
