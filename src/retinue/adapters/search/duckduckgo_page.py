"""Parsing of DuckDuckGo's result page: results, no results, or a challenge."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

from msgspec import Struct

from retinue.adapters.search.results import EngineResult

_HOME = "https://duckduckgo.com/"


class DuckDuckGoPage(Struct, frozen=True):
    rows: list[EngineResult]
    is_challenge: bool
    says_nothing_found: bool


def parse_page(html: str) -> DuckDuckGoPage:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    rows = [
        EngineResult("".join(result.title), result.url, "".join(result.snippet))
        for result in reader.results
        if result.url
    ]
    return DuckDuckGoPage(rows, reader.is_challenge, reader.says_nothing_found)


class _Result(Struct):
    url: str
    title: list[str]
    snippet: list[str]


class _Reader(HTMLParser):
    """Collects the text of titles and snippets and skips advertisements."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[_Result] = []
        self.is_challenge = False
        self.says_nothing_found = False
        self._is_advertisement = False
        self._reading: list[str] | None = None
        self._reading_in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        classes = set(attributes.get("class", "").split())
        if attributes.get("id") == "challenge-form" or any(
            name.startswith("anomaly-modal") for name in classes
        ):
            self.is_challenge = True
        if classes & {"no-results", "result--no-result"}:
            self.says_nothing_found = True
        if "result" in classes:
            self._is_advertisement = "result--ad" in classes
        if self._is_advertisement:
            return
        if "result__a" in classes:
            self.results.append(_Result(_target(attributes.get("href", "")), [], []))
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
    """Return a link's target; results are wrapped in a click counter, advertisements yield ""."""
    try:
        parts = urlsplit(urljoin(_HOME, href))
        if parts.hostname != "duckduckgo.com":
            return parts.geturl()
        return parse_qs(parts.query).get("uddg", [""])[0] if parts.path == "/l/" else ""
    except ValueError:
        return ""
