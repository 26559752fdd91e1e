"""Is this page what it claims to be?  Names the pages that must not be believed.

Asked only of pages that show no price: a shop page with an offer is what it claims to be, whatever
scripts against bots or cookie banners it also carries.
"""

import re

from crawler.reading.facts import Trouble

SHORT_TEXT = (
    3_000  # characters: walls and error pages are short, and a product text may quote anything
)
MIN_CARDS = 3
SHELL_TEXT = 250
BARE_TEXT = 20
SHELL_LINKS = 4
CONSENT_LINKS = 25
MARKER_SPAN = 200_000

_HTML_TYPES = ("html", "xml", "text/plain", "octet-stream")
_BINARY = (
    b"%PDF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"RIFF",
    b"\x00\x00\x00",
)

_WALL_TITLES = re.compile(
    r"just a moment|attention required|access (?:to this page has been )?denied|robot check|are you (?:a )?(?:human|robot)|"
    r"you are (?:a )?human|human verification|bot (?:verification|detection|check)|security (?:check|challenge|verification)|"
    r"captcha|pardon our interruption|request (?:unsuccessful|blocked|rejected)|please (?:wait|verify)|ddos|"
    r"checking your browser|one more step|unusual (?:traffic|activity)|blocked|forbidden|sicherheitsüberprüfung|"
    r"bist du ein mensch|vérification de sécurité|comprobación de seguridad|проверка безопасности|доступ ограничен",
    re.IGNORECASE,
)  # fmt: skip
_WALL_WORDS = re.compile(
    r"verify (?:that )?you(?:'re| are) (?:a |not a )?(?:human|robot)|are you (?:a )?(?:human|robot)|not a robot|"
    r"enter the characters you see|unusual (?:traffic|activity)|automated (?:access|requests?|queries)|"
    r"checking (?:if the site connection is secure|your browser)|press (?:&|and) hold|"
    r"you have been blocked|access (?:to this (?:page|site) )?(?:has been |was )?denied|enable (?:javascript and )?cookies to continue|"
    r"complete the (?:security check|captcha)|solve the captcha|suspicious activity|ray id|reference #\d|incident id",
    re.IGNORECASE,
)  # fmt: skip
_WALL_MARKERS = (
    b"cf-browser-verification", b"cf_chl_", b"/cdn-cgi/challenge-platform/h/", b"_Incapsula_Resource",
    b"captcha-delivery.com", b"px-captcha", b"_pxCaptcha", b"distil_r_captcha", b"g-recaptcha", b"h-captcha",
    b"hcaptcha.com", b"/_sec/cp_challenge", b"awswaf", b"validateCaptcha", b"cf-turnstile", b"KPSDK", b"geo.captcha",
)  # fmt: skip
_CONSENT_TITLE = re.compile(
    r"before you continue|bevor sie fortfahren|avant de continuer|antes de continuar|prima di continuare|cookie consent|"
    r"your privacy|we value your privacy|datenschutz-?einstellungen|consent|privacy (?:gate|choices|settings)|cookies?$",
    re.IGNORECASE,
)  # fmt: skip
_CONSENT_WORDS = re.compile(
    r"accept all|agree (?:to all|and continue)|reject all|i agree|manage (?:options|preferences|cookies)|alle akzeptieren|"
    r"zustimmen|tout accepter|aceptar todo|accetta tutt|zaakceptuj|alle accepteren|godkänn alla|принять все",
    re.IGNORECASE,
)  # fmt: skip
_COOKIE_WORDS = re.compile(r"cookies?|consent|privacy|gdpr|partners|personal data", re.IGNORECASE)
_GONE = re.compile(
    r"\b404\b|(?:page|product|item|article) (?:was |is |could )?(?:not found|not be found|no longer (?:exists?|available))|not found|"
    r"(?:can(?:'|’)?t|cannot|could ?n(?:o|')t) (?:seem to )?find (?:the|that|this|your) (?:page|product|item)|"
    r"(?:doesn(?:'|’)t|does not|no longer) exist|(?:this )?(?:product|item|listing) (?:is|has been) (?:no longer available|removed|discontinued)|"
    r"nicht gefunden|existiert nicht|nicht mehr verfügbar|introuvable|n(?:'|’)existe (?:pas|plus)|no encontrad[ao]|no existe|"
    r"non (?:è stata )?trovat[ao]|não encontrad[ao]|niet gevonden|nie (?:została )?znalezion|nenalezen|nebyla nalezena|"
    r"не найден|hittades inte|ikke fundet|ei löytynyt|bulunamadı|見つかりません|찾을 수 없",
    re.IGNORECASE,
)  # fmt: skip
_ERROR = re.compile(
    r"\b50[0-4]\b.{0,30}(?:error|unavailable|gateway|server)|internal server error|(?:service|temporarily|site) (?:is )?unavailable|"
    r"bad gateway|gateway time-?out|something went wrong|(?:an|application|runtime|server|fatal|unexpected) error|"
    r"error (?:establishing|occurred|processing)|database (?:connection )?error|(?:under|scheduled|down for) maintenance|maintenance mode|"
    r"be (?:right )?back (?:soon|shortly)|we(?:'|’)ll be back|too many requests|over(?:loaded| capacity)|technical (?:difficult|problem|issue)|"
    r"wartungsarbeiten|technischer fehler|erreur (?:interne|technique)|error interno|errore interno|en maintenance|en mantenimiento|"
    r"ведутся (?:технические )?работы|ошибка сервера|^error$|^oops",
    re.IGNORECASE,
)  # fmt: skip
_NEEDS_SCRIPTS = re.compile(
    rb"enable javascript|javascript (?:is )?(?:required|disabled)|activate javascript",
    re.IGNORECASE,
)
_APP_ROOTS = (b'id="root"', b'id="app"', b'id="__next"', b'id="__nuxt"', b"<app-root", b"ng-app", b'id=root', b'id=app')  # fmt: skip


def not_html(body: bytes, content_type: str | None) -> bool:
    """Bytes that no HTML parser should see: images, archives, PDF, JSON."""
    kind = (content_type or "text/html").split(";")[0].strip().lower()
    if kind and not any(name in kind for name in _HTML_TYPES):
        return True
    start = body[:512].lstrip()
    return body.startswith(_BINARY) or (start[:1] in (b"{", b"[") and b"<" not in start[:64])


def trouble_of(
    body: bytes,
    *,
    title: str,
    heading: str,
    text: str,
    links: int,
    cards: int,
    marked: bool,
    status: int = 200,
) -> Trouble | None:
    """Why a page without a price must not be believed, or None.

    `text` is what a visitor reads; `marked` tells that markup describes a product all the same.
    """
    if cards >= MIN_CARDS or marked:
        return None
    names = f"{title} \n {heading}"
    short = len(text) < SHORT_TEXT
    if short and _is_wall(body, names, text, links, status):
        return Trouble.BOT_WALL
    if short and links <= CONSENT_LINKS and _is_consent(names, text):
        return Trouble.CONSENT
    if _GONE.search(names) or (short and links < 5 and _GONE.search(text[:400])):
        return Trouble.SOFT_404
    if _ERROR.search(names) or (short and links < 5 and _ERROR.search(text[:400])):
        return Trouble.ERROR_PAGE
    if _is_shell(body, text, links):
        return Trouble.EMPTY_SHELL
    return None


def _is_wall(body: bytes, names: str, text: str, links: int, status: int) -> bool:
    """A challenge is short and leads nowhere; two of title, words, vendor marks and status make it one."""
    if links > CONSENT_LINKS:
        return False
    marked = any(marker in body[:MARKER_SPAN] for marker in _WALL_MARKERS)
    signs = bool(_WALL_TITLES.search(names)) + bool(_WALL_WORDS.search(text)) + marked
    signs += status in (403, 429, 503)
    return signs >= 2 or (marked and len(text) < SHELL_TEXT and links < SHELL_LINKS)


def _is_consent(names: str, text: str) -> bool:
    about = len(_COOKIE_WORDS.findall(text[:SHORT_TEXT])) >= 3
    return (
        about
        and bool(_CONSENT_WORDS.search(text))
        and (bool(_CONSENT_TITLE.search(names)) or _CONSENT_WORDS.search(text[-600:]) is not None)
    )


def _is_shell(body: bytes, text: str, links: int) -> bool:
    """No text, no links, but scripts: the page draws itself in a browser."""
    if links >= SHELL_LINKS or len(text) >= SHELL_TEXT:
        return False
    scripted = b"<script" in body
    rooted = any(root in body for root in _APP_ROOTS)
    bare = len(text) < BARE_TEXT or _NEEDS_SCRIPTS.search(body[:MARKER_SPAN]) is not None
    return scripted and (rooted or bare)
