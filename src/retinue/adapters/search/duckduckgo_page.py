"""The result page of DuckDuckGo, as far as it is known: results, the lack of them, or a challenge."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

from msgspec import Struct

from retinue.adapters.search.results import Row

_HOME = "https://duckduckgo.com/"


class Page(Struct, frozen=True):
    rows: list[Row]
    is_challenge: bool
    says_nothing_found: bool


def read_page(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    rows = [
        Row("".join(found.title), found.url, "".join(found.snippet)) for found in reader.results if found.url
    ]
    return Page(rows, reader.is_challenge, reader.says_nothing_found)


class _Result(Struct):
    url: str
    title: list[str]
    snippet: list[str]


class _Reader(HTMLParser):
    """Collects the text of titles and snippets; an advertisement is a result of its own kind."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[_Result] = []
        self.is_challenge = False
        self.says_nothing_found = False
        self._is_advertisement = False
        self._reading: list[str] | None = None
        self._reading_in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = set(given.get("class", "").split())
        if given.get("id") == "challenge-form" or any(name.startswith("anomaly-modal") for name in classes):
            self.is_challenge = True
        if classes & {"no-results", "result--no-result"}:
            self.says_nothing_found = True
        if "result" in classes:
            self._is_advertisement = "result--ad" in classes
        if self._is_advertisement:
            return
        if "result__a" in classes:
            self.results.append(_Result(_target(given.get("href", "")), [], []))
            self._reading, self._reading_in = self.results[-1].title, tag
        elif "result__snippet" in classes and self.results:
            self._reading, self._reading_in = self.results[-1].snippet, tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._reading_in:
            self._reading, self._reading_in = None, ""

    def handle_data(self, data: str) -> None:
        if self._reading is not None:
            self._reading.append(data)


def _target(href: str) -> str:
    """Where a link leads; those of results go by way of a page that counts clicks, and ads stay with it."""
    try:
        parts = urlsplit(urljoin(_HOME, href))
        if parts.hostname != "duckduckgo.com":
            return parts.geturl()
        return parse_qs(parts.query).get("uddg", [""])[0] if parts.path == "/l/" else ""
    except ValueError:
        return ""
