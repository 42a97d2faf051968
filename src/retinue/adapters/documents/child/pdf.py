"""PDF, page by page, with pdfium."""

import codecs
import ctypes
import re
from collections.abc import Iterator

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]

from .cleaning import clean
from .sections import Notes, Refusal, Section

# pdfium's own marks for a hyphen at the end of a line, in the two ways it gives text.
_HYPHENATED = re.compile("[\x02\ufffe](?:\r\n|\n)?")
_LIST_ITEM = re.compile(r"\s*(?:[-•*\u2013▪●◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")
_HEADER_WITHIN = 1024
# A line this long, compared with the longest of its page, ended because the page did.
_FULL = 0.7


def load() -> None:
    pdfium.FPDF_InitLibrary()
    # After this there are no files to load it from.
    codecs.lookup("utf-16-le")


def read(content: bytes, notes: Notes) -> Iterator[Section]:
    if b"%PDF-" not in content[:_HEADER_WITHIN]:
        raise Refusal("parse_error", "The file is not a PDF, although its name says so.")
    document = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not document:
        raise _why_not()
    notes.pages = pdfium.FPDF_GetPageCount(document)
    for index in range(notes.pages):
        text = _page_text(document, index)
        if text.strip():
            yield Section(unwrapped(clean(_HYPHENATED.sub("", text))), page=index + 1)


def _why_not() -> Refusal:
    reason = pdfium.FPDF_GetLastError()
    if reason == pdfium.FPDF_ERR_PASSWORD:
        return Refusal("parse_error", "The PDF is protected by a password; send it without one.")
    if reason == pdfium.FPDF_ERR_SECURITY:
        return Refusal("parse_error", "The PDF is protected in a way that cannot be opened.")
    return Refusal("parse_error", "The PDF is damaged and cannot be opened.")


def _page_text(document: "pdfium.FPDF_DOCUMENT", index: int) -> str:
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        return ""
    text_page = pdfium.FPDFText_LoadPage(page)
    try:
        return _all_text(text_page) if text_page else ""
    finally:
        pdfium.FPDFText_ClosePage(text_page)
        pdfium.FPDF_ClosePage(page)


def _all_text(text_page: "pdfium.FPDF_TEXTPAGE") -> str:
    count = pdfium.FPDFText_CountChars(text_page)
    if count <= 0:
        return ""
    # Two bytes for each unit of UTF-16, of which a character may need two, and the closing zero.
    buffer = (ctypes.c_ushort * (2 * count + 1))()
    written = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    return bytes(memoryview(buffer).cast("B")[: 2 * max(0, written - 1)]).decode("utf-16-le", "ignore")


def unwrapped(text: str) -> str:
    """Lines that only ended because the page was full, joined again; short lines and list items stay."""
    lines = text.split("\n")
    full = _FULL * max(map(len, lines))
    joined: list[str] = []
    is_open = False
    for line in lines:
        if is_open and line.strip() and not _LIST_ITEM.match(line):
            joined[-1] = f"{joined[-1].rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
        is_open = len(line) >= full and not line.rstrip().endswith((":", "|"))
    return "\n".join(joined)
