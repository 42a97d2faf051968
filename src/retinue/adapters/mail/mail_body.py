"""Mail bodies: the same paragraphs as plain text and as HTML, with all values escaped."""

import re
from collections.abc import Iterable
from html import escape

import msgspec

from retinue.adapters.mail.message import Mail

GREETING = "Hello,"

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


class MailLink(msgspec.Struct, frozen=True):
    """A URL on its own line; `by_hand` explains how to use its token without the page."""

    url: str
    token: str = ""
    by_hand: str = ""


class FactTable(msgspec.Struct, frozen=True):
    """Names and values: one line each in plain text, a table in HTML."""

    rows: tuple[tuple[str, str], ...]


Paragraph = str | MailLink | FactTable


def build_mail(to: str, subject: str, *paragraphs: Paragraph) -> Mail:
    """Return a mail with a greeting and these paragraphs."""
    body = (GREETING, *paragraphs)
    return Mail(to, subject, as_text(body), as_html(body))


def as_text(paragraphs: Iterable[Paragraph]) -> str:
    """Return the paragraphs as plain text, with a blank line between them."""
    parts: list[str] = []
    for paragraph in paragraphs:
        if isinstance(paragraph, MailLink):
            parts += [part for part in (paragraph.url, paragraph.by_hand, paragraph.token) if part]
        elif isinstance(paragraph, FactTable):
            parts.append("\n".join(f"{name}: {_indented(value)}" for name, value in paragraph.rows))
        else:
            parts.append(_normalize_breaks(paragraph))
    return "\n\n".join(parts) + "\n"


def as_html(paragraphs: Iterable[Paragraph]) -> str:
    """Return the paragraphs as HTML that keeps the line breaks of their texts."""
    parts: list[str] = []
    for paragraph in paragraphs:
        if isinstance(paragraph, MailLink):
            parts.append(f'<p><a href="{escape(paragraph.url)}">{escape(paragraph.url)}</a></p>')
            parts += [_paragraph_html(paragraph.by_hand)] if paragraph.by_hand else []
            parts += [f"<p><code>{escape(paragraph.token)}</code></p>"] if paragraph.token else []
        elif isinstance(paragraph, FactTable):
            parts.append(_table(paragraph))
        else:
            parts += [_paragraph_html(block) for block in _BLANK_LINES.split(_normalize_breaks(paragraph))]
    return "".join(f"{part}\n" for part in parts)


def _table(facts: FactTable) -> str:
    cell = 'style="text-align: left; vertical-align: top; padding: 2px 12px 2px 0"'
    rows = [
        f"<tr><th {cell}>{escape(name)}</th><td {cell}>{_with_breaks(value)}</td></tr>\n"
        for name, value in facts.rows
    ]
    return f"<table>\n{''.join(rows)}</table>"


def _paragraph_html(text: str) -> str:
    return f"<p>{_with_breaks(text)}</p>"


def _with_breaks(text: str) -> str:
    return escape(_normalize_breaks(text)).replace("\n", "<br>\n")


def _indented(value: str) -> str:
    return _normalize_breaks(value).replace("\n", "\n    ")


def _normalize_breaks(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
