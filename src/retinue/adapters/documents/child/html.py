"""Web pages as text: the main content with headings, lists and links, without navigation and scripts."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import TextIO

from .normalization import normalize_line, normalize_text
from .sections import DocumentNotes, Section

_LEFT_OUT = frozenset(
    {"script", "style", "noscript", "template", "svg", "nav", "footer", "aside", "form", "button", "iframe"}
)
_MAIN = frozenset({"main", "article"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "ul", "ol", "table", "tr", "blockquote", "pre", "dl"}
    | {"dt", "dd", "figure", "figcaption", "hr", "br"}
)
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "col", "source", "wbr", "area", "base", "embed"}
)
_MAX_TITLE_LENGTH = 300
# A main part shorter than this share of the page is a teaser; the page is read whole.
_MIN_MAIN_SHARE = 0.2


def read(stream: TextIO, _notes: DocumentNotes) -> Iterator[Section]:
    page = _Page()
    page.feed(stream.read())
    page.close()
    yield Section(page.text(), heading=normalize_line(page.title)[:_MAX_TITLE_LENGTH] or None)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._whole: list[str] = []
        self._main: list[str] = []
        self._left_out = self._depth_of_main = 0
        self._is_title = False
        self._links: list[str] = []

    def text(self) -> str:
        whole, main = normalize_text("".join(self._whole)), normalize_text("".join(self._main))
        return (main if len(main) >= _MIN_MAIN_SHARE * len(whole) else whole).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self._left_out += 1
        elif tag == "title":
            self._is_title = not self.title
        elif tag in _HEADINGS:
            self._write(f"\n\n{_HEADINGS[tag]}")
        elif tag == "li":
            self._write("\n- ")
        elif tag in {"td", "th"}:
            self._write(" | ")
        elif tag == "a":
            self._start_link(dict(attrs).get("href") or "")
        elif tag in _BLOCKS:
            self._write("\n")
        if tag in _MAIN:
            self._depth_of_main += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in _LEFT_OUT:
            self._left_out = max(0, self._left_out - 1)
        elif tag == "title":
            self._is_title = False
        elif tag == "a" and self._links:
            address = self._links.pop()
            self._write(f"]({address})" if address else "")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._write("\n")
        if tag in _MAIN:
            self._depth_of_main = max(0, self._depth_of_main - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif text := " ".join(data.split()):
            before = " " if data[:1].isspace() else ""
            self._write(f"{before}{text}{' ' if data[-1:].isspace() else ''}")
        elif data:
            self._write(" ")

    def _start_link(self, address: str) -> None:
        is_shown = not self._left_out and address and not address.startswith(("#", "javascript:", "data:"))
        self._links.append("".join(address.split()) if is_shown else "")
        self._write("[" if is_shown else "")

    def _write(self, text: str) -> None:
        if self._left_out or not text:
            return
        self._whole.append(text)
        if self._depth_of_main:
            self._main.append(text)
