"""Can the product be bought?  Read from buttons and words near the heading, when markup is silent."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.reading.facts import Availability

MAX_BUTTONS = 80
BLOCK_TEXT = 6_000  # characters around the heading that speak of this product

_OUT = re.compile(
    r"\bout[ -]of[ -]stock\b|\bsold[ -]?out\b|currently (?:unavailable|not available|out)|\bnot (?:currently )?(?:available|in stock)\b|"
    r"temporarily unavailable|no longer available|ausverkauft|nicht (?:verfügbar|auf lager|lieferbar|vorrätig)|derzeit nicht|"
    r"rupture|épuisé|indisponible|non disponibile|esaurito|agotado|no disponible|sin stock|esgotado|indisponível|uitverkocht|"
    r"niet (?:op voorraad|beschikbaar|leverbaar)|niedostępn|brak w magazynie|wyprzedan|vyprodáno|vypredané|není skladem|nie je skladom|"
    r"nedostupn|indisponibil|stoc epuizat|нет в наличии|распродан|немає в наявності|slut i lager|slutsåld|udsolgt|utsolgt|loppunut|"
    r"läbi müüdud|ei ole laos|nav pieejam|išparduota|tükendi|elfogyott|nincs készleten|品切れ|売り切れ|품절|缺货|notify me when",
    re.IGNORECASE,
)  # fmt: skip
_IN = re.compile(
    r"\bin stock\b|\bauf lager\b|\bsofort lieferbar|\blieferbar\b|en stock|disponibile|disponible|disponível|op voorraad|dostępny|na skladě|"
    r"skladem|na sklade|skladom|в наличии|есть в наличии|в наявності|i lager|på lager|varastossa|laos|pieejams|în stoc|stokta|raktáron|készleten|"
    r"in magazzino|w magazynie|在庫あり|有货",
    re.IGNORECASE,
)  # fmt: skip
_BUY = re.compile(
    r"add(?:ed)? to (?:cart|bag|basket|trolley)|buy (?:now|it now)|in den (?:warenkorb|einkaufswagen)|ajouter au panier|"
    r"(?:añadir|agregar) al? (?:carrito|cesta|carro)|comprar|aggiungi al carrello|adicionar ao carrinho|in winkel(?:wagen|mandje)|"
    r"do koszyka|do košíku|do košíka|adaugă în coș|adauga in cos|в корзину|купить|до кошика|купити|(?:lägg|legg|læg) (?:i|til)|i varukorg|"
    r"lisa ostukorvi|lisää ostoskoriin|pievienot grozam|į krepšelį|sepete ekle|kosárba|カートに|장바구니|구매|加入购物车|add to order|order now|"
    r"kup teraz|acheter|kaufen|kopen|köp\b|osta\b|comprar entradas|buy tickets|pirkt",
    re.IGNORECASE,
)  # fmt: skip
_BUTTONS = (
    'button,input[type="submit"],input[type="button"],[role="button"],[class*="add-to-cart" i],[class*="addtocart" i],'
    '[id*="add-to-cart" i],[id*="addtocart" i],[class*="buy" i]'
)
_CLOSED = re.compile(r"disabled|inactive|sold-?out|unavailable", re.IGNORECASE)


def availability_by_sight(
    tree: LexborHTMLParser, heading: LexborNode | None
) -> Availability | None:
    """What the words and buttons of the heading's block say; a button that can be pressed decides."""
    block = _block(heading) if heading is not None else tree.body
    if block is None:
        return None
    text = block.text(separator=" ")[:BLOCK_TEXT]
    out = _OUT.search(text)
    if _can_buy(block) and not (out and out.start() < BLOCK_TEXT // 6):
        return Availability.IN_STOCK
    if out:
        return Availability.OUT_OF_STOCK
    return Availability.IN_STOCK if _IN.search(text) else None


def _block(heading: LexborNode) -> LexborNode | None:
    """The lowest element around the heading with a button in it; the page's main part otherwise."""
    block = heading.parent
    for _ in range(8):
        if block is None or block.tag in ("body", "main"):
            break
        if block.css_first('button,input[type="submit"],[class*="cart" i],form') is not None:
            return block.parent or block
        block = block.parent
    return block


def _can_buy(block: LexborNode) -> bool:
    for node in block.css(_BUTTONS)[:MAX_BUTTONS]:
        attributes = node.attributes
        if "disabled" in attributes or _CLOSED.search(attributes.get("class") or ""):
            continue
        label = node.text(separator=" ")[:200] or ""
        label += f" {attributes.get('value') or ''} {attributes.get('title') or ''} {attributes.get('aria-label') or ''}"
        if _BUY.search(label):
            return True
    return False
