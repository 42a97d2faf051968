import re
from html.parser import HTMLParser
from importlib import resources
from urllib.parse import urljoin

import pytest

from retinue.kit.errors import NotFound
from retinue.kit.http.discovery import get_reference_asset, get_reference_page

ASSETS = resources.files("retinue.kit.http").joinpath("assets")
HTML = ASSETS.joinpath("reference.html").read_text()
# One script may read another one beside it, and nothing else.
_BESIDE = re.compile(r'^import {[\w, ]+} from "\./reference-[a-z]+\.js";$', re.MULTILINE)
SCRIPTS = ("reference.js", "reference-schemas.js")
SCRIPT = "".join(_BESIDE.sub("", ASSETS.joinpath(name).read_text()) for name in SCRIPTS)
STYLE = ASSETS.joinpath("reference.css").read_text()


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.attributes = []
        self.inline = []
        self.ids = set()
        self._inside = None
        self.feed(HTML)

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids |= {value for name, value in attrs if name == "id"}

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside in {"script", "style"} and data.strip():
            self.inline.append(data)

    def addresses(self, *tags):
        return [value for tag, name, value in self.attributes if tag in tags and name in {"src", "href"}]


@pytest.fixture(scope="module")
def page():
    return Page()


def test_the_page_has_no_inline_script_or_style(page):
    assert page.inline == []
    for tag, name, _ in page.attributes:
        assert tag != "style"
        assert name != "style"
        assert not name.startswith("on")


async def test_every_asset_of_the_page_is_served(page):
    addresses = page.addresses("script", "link", "img")
    assert len(addresses) == 2
    for address in addresses:
        path = urljoin("/docs", address)
        assert path.startswith("/docs/")
        document = await get_reference_asset(None, path.removeprefix("/docs/"))
        assert document.content == ASSETS.joinpath(path.removeprefix("/docs/")).read_bytes()
        assert document.mime_type.startswith(("text/javascript", "text/css"))
    for name in SCRIPTS:
        assert (await get_reference_asset(None, name)).mime_type.startswith("text/javascript")


async def test_the_page_is_served_under_a_policy_that_allows_only_its_own_origin():
    document = await get_reference_page(None)
    assert document.content.decode() == HTML
    assert "default-src 'self'" in document.policy
    assert "unsafe" not in document.policy


async def test_no_other_file_is_served_as_an_asset():
    for name in ("../routing.py", "reference.html", "..", "reference.js/"):
        with pytest.raises(NotFound):
            await get_reference_asset(None, name)


@pytest.mark.parametrize("text", [HTML, SCRIPT, STYLE])
def test_nothing_is_fetched_from_another_place(text):
    assert re.search(r"https?:|[\"'(]//|url\(|@import|\bimport\b", text) is None


@pytest.mark.parametrize(
    "word",
    [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "localStorage",
        "sessionStorage",
        "indexedDB",
        "cookie",
        ".style",
    ],
)
def test_the_script_takes_no_text_for_markup_and_keeps_nothing(word):
    assert word not in SCRIPT


def test_the_script_finds_its_elements_in_the_page(page):
    wanted = set(re.findall(r'\$\("([\w-]+)"\)', SCRIPT))
    assert {"content", "operations", "search", "token"} <= wanted
    assert wanted <= page.ids
