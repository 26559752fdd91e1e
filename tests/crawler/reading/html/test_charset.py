"""Bytes to characters."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html.charset import decode_html, html_charset, known_charset

LATIN = "<p>Größe: 5 €</p>".encode("cp1252")


def test_utf8_is_handed_on_undecoded() -> None:
    body = "<p>Größe".encode()
    assert decode_html(body, "text/html; charset=utf-8") is body
    assert decode_html(codecs.BOM_UTF8 + body, "text/html; charset=latin-1") == body


@pytest.mark.parametrize(
    ("body", "header", "charset"),
    [
        (codecs.BOM_UTF16_LE + "x".encode("utf-16-le"), "text/html; charset=utf-8", "utf-16-le"),
        (LATIN, "text/html; charset=ISO-8859-1", "cp1252"),
        (b'<meta charset="shift_jis">', "text/html; charset=windows-1251", "cp1251"),
        (b'<meta charset="shift_jis">', "text/html", "cp932"),
        (b'<meta http-equiv=x content="text/html; charset=gb2312">', None, "gb18030"),
        (b'<meta charset="utf-16">', None, "utf-8"),
        (b"<p>" + b" " * 1024 + b'<meta charset="shift_jis">', None, "utf-8"),
        (b'<meta charset="no-such">', None, "utf-8"),
        (b'<meta charset="base64">', None, "utf-8"),
        ("<p>Größe".encode(), None, "utf-8"),
        ("Цена этого товара сегодня ниже".encode("cp1251"), None, "cp1251"),
    ],
)
def test_mark_header_meta_and_bytes_are_asked_in_this_order(
    body: bytes, header: str | None, charset: str
) -> None:
    assert html_charset(body, header)[0] == charset


def test_latin1_means_windows_1252() -> None:
    assert decode_html(LATIN, "text/html; charset=latin1") == "<p>Größe: 5 €</p>"


@given(st.binary(), st.one_of(st.none(), st.text()))
def test_no_bytes_and_no_header_raise(body: bytes, header: str | None) -> None:
    assert isinstance(decode_html(body, header), str | bytes)


@given(
    st.binary(min_size=1),
    st.sampled_from(sorted({"utf-7", "idna", "hz", "cp932", "utf-16", "utf-32", "iso2022_jp"})),
)
def test_no_charset_raises(body: bytes, label: str) -> None:
    assert isinstance(decode_html(body, f"text/html; charset={label}"), str | bytes)


@pytest.mark.parametrize(
    "label", ["utf-7", "cp037", "ibm1140", "unicode-escape", "base64", "", "\0", "x" * 999]
)
def test_charsets_that_would_hide_markup_are_unknown(label: str) -> None:
    assert known_charset(label) is None
