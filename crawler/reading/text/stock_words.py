"""The words by which shops say, in each language, that a product can be bought or not.  Lower case."""

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class StockWords:
    """Phrases for sold out, for in stock, and on the button that buys."""

    sold_out: tuple[str, ...]
    in_stock: tuple[str, ...]
    buy: tuple[str, ...]


_BY_LANGUAGE = {
    "en": StockWords(
        ("out of stock", "out-of-stock", "sold out", "sold-out", "currently unavailable", "not available",
         "not in stock", "temporarily unavailable", "no longer available", "notify me when"),
        ("in stock",),
        ("add to cart", "add to bag", "add to basket", "add to trolley", "add to order", "buy now", "buy it now",
         "order now", "buy tickets"),
    ),
    "de": StockWords(
        ("ausverkauft", "nicht verfügbar", "nicht auf lager", "nicht lieferbar", "nicht vorrätig", "derzeit nicht"),
        ("auf lager", "sofort lieferbar", "sofort verfügbar"),
        ("in den warenkorb", "in den einkaufswagen", "kaufen"),
    ),
    "fr": StockWords(("rupture de stock", "épuisé", "indisponible"), ("en stock", "disponible"), ("ajouter au panier", "acheter")),
    "it": StockWords(("non disponibile", "esaurito"), ("disponibile",), ("al carrello", "acquista")),
    "es": StockWords(("agotado", "no disponible", "sin stock"), ("en stock", "disponible"), ("al carrito", "a la cesta", "al carro", "comprar")),
    "pt": StockWords(("esgotado", "indisponível"), ("disponível", "em estoque"), ("ao carrinho", "comprar")),
    "nl": StockWords(("uitverkocht", "niet op voorraad", "niet beschikbaar", "niet leverbaar"), ("op voorraad",), ("in winkel", "kopen", "bestellen")),
    "pl": StockWords(("niedostępn", "brak w magazynie", "wyprzedan"), ("dostępny", "w magazynie"), ("do koszyka", "kup teraz")),
    "cs": StockWords(("vyprodáno", "není skladem", "nedostupn"), ("skladem",), ("do košíku", "koupit")),
    "sk": StockWords(("vypredané", "nie je skladom", "nedostupn"), ("skladom", "na sklade"), ("do košíka", "kúpiť")),
    "hu": StockWords(("elfogyott", "nincs készleten"), ("készleten", "raktáron"), ("kosárba",)),
    "ro": StockWords(("indisponibil", "stoc epuizat"), ("în stoc", "in stoc"), ("în coș", "in cos")),
    "bg": StockWords(("няма наличност", "изчерпан"), ("в наличност",), ("в количката", "купи")),
    "ru": StockWords(("нет в наличии", "распродан"), ("в наличии",), ("в корзину", "купить")),
    "uk": StockWords(("немає в наявності",), ("в наявності",), ("до кошика", "купити")),
    "sv": StockWords(("slut i lager", "slutsåld"), ("i lager",), ("i varukorg", "köp")),
    "no": StockWords(("utsolgt", "ikke på lager"), ("på lager",), ("i handlekurv", "kjøp")),
    "da": StockWords(("udsolgt", "ikke på lager"), ("på lager",), ("i kurv", "køb")),
    "fi": StockWords(("loppunut", "ei varastossa"), ("varastossa",), ("ostoskoriin", "osta")),
    "et": StockWords(("läbi müüdud", "ei ole laos", "otsas"), ("laos",), ("ostukorvi", "osta")),
    "lv": StockWords(("nav pieejam",), ("pieejams", "pieejamība"), ("grozam", "grozā", "pirkt")),
    "lt": StockWords(("išparduota", "neturime"), ("turime", "sandėlyje"), ("krepšelį", "pirkti")),
    "tr": StockWords(("tükendi", "stokta yok"), ("stokta",), ("sepete", "satın al")),
    "el": StockWords(("εξαντλ", "μη διαθέσιμο"), ("διαθέσιμο",), ("στο καλάθι", "αγορά")),
    "ja": StockWords(("品切れ", "売り切れ", "在庫なし", "在庫切れ", "在庫がありません", "完売"), ("在庫あり",), ("カートに", "購入")),
    "ko": StockWords(("품절",), ("재고",), ("장바구니", "구매")),
    "zh": StockWords(("缺货", "售罄"), ("有货",), ("购物车", "购买")),
}  # fmt: skip
_SAME = {"nb": "no", "nn": "no"}


@lru_cache(maxsize=64)
def stock_words(language: str | None) -> StockWords:
    """A language's phrases with the English ones, which shops everywhere use; all for an unknown language."""
    own = _BY_LANGUAGE.get(_SAME.get(language or "", language or ""))
    known = (own, _BY_LANGUAGE["en"]) if own else tuple(_BY_LANGUAGE.values())
    return StockWords(
        tuple(dict.fromkeys(phrase for words in known for phrase in words.sold_out)),
        tuple(dict.fromkeys(phrase for words in known for phrase in words.in_stock)),
        tuple(dict.fromkeys(phrase for words in known for phrase in words.buy)),
    )
