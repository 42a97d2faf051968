"""PDF with pdfium, page by page."""

import codecs
import ctypes
import re
from collections.abc import Iterator

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]

from .normalization import normalize_text
from .sections import DocumentNotes, DocumentRefused, Section

# pdfium's two marks for a hyphen at the end of a line.
_HYPHENATED = re.compile("[\x02\ufffe](?:\r\n|\n)?")
_LIST_ITEM = re.compile(r"\s*(?:[-•*\u2013▪●◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")
_HEADER_SEARCH_BYTES = 1024
# A line of this length, relative to the longest of its page, was wrapped by the page.
_FULL_LINE_RATIO = 0.7


def load() -> None:
    pdfium.FPDF_InitLibrary()
    # After the lockdown it could not be loaded.
    codecs.lookup("utf-16-le")


def read(content: bytes, notes: DocumentNotes) -> Iterator[Section]:
    if b"%PDF-" not in content[:_HEADER_SEARCH_BYTES]:
        raise DocumentRefused("parse_error", "The file is not a PDF, although its extension is .pdf.")
    document = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not document:
        raise _load_error()
    notes.pages = pdfium.FPDF_GetPageCount(document)
    for index in range(notes.pages):
        text = _page_text(document, index)
        if text.strip():
            yield Section(join_wrapped_lines(normalize_text(_HYPHENATED.sub("", text))), page=index + 1)


def _load_error() -> DocumentRefused:
    reason = pdfium.FPDF_GetLastError()
    if reason == pdfium.FPDF_ERR_PASSWORD:
        return DocumentRefused("parse_error", "The PDF is password-protected. Send it without a password.")
    if reason == pdfium.FPDF_ERR_SECURITY:
        return DocumentRefused("parse_error", "The PDF uses a protection that is not supported.")
    return DocumentRefused("parse_error", "The PDF is damaged and cannot be opened.")


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
    # Two UTF-16 units per character at most, and the closing zero.
    buffer = (ctypes.c_ushort * (2 * count + 1))()
    length = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
    return bytes(memoryview(buffer).cast("B")[: 2 * max(0, length - 1)]).decode("utf-16-le", "ignore")


def join_wrapped_lines(text: str) -> str:
    """Join lines that were wrapped at the edge of the page; short lines and list items stay."""
    lines = text.split("\n")
    full = _FULL_LINE_RATIO * max(map(len, lines))
    joined: list[str] = []
    is_open = False
    for line in lines:
        if is_open and line.strip() and not _LIST_ITEM.match(line):
            joined[-1] = f"{joined[-1].rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
        is_open = len(line) >= full and not line.rstrip().endswith((":", "|"))
    return "\n".join(joined)
