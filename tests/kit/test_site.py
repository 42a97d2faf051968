"""Pages for people: a start page, guides whose links work, an icon, and a way back from anywhere."""

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from retinue.kit.http import guides
from tests.client import Api

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
# The console takes over the start page where it is built.
pytestmark = [pytest.mark.either_database, pytest.mark.usefixtures("no_console")]


async def test_the_start_page_says_what_this_is_and_leads_on(api: Api) -> None:
    page = await api.get("/", headers=BROWSER)
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in page.body.decode()
    for link in re.findall(r'(?:href|src)="([^"]+)"', page.body.decode()):
        assert (await api.get(link)).status == 200, link


@pytest.mark.parametrize("path", ["/nowhere", "/docs/nothing", "/docs/guides/x.md", "/f"])
async def test_a_wrong_address_gets_a_page_with_a_way_back(api: Api, path: str) -> None:
    page = await api.get(path, headers=BROWSER)
    assert page.status == 404
    assert page.headers["content-type"].startswith("text/html")
    assert path in page.body.decode()
    assert 'href="/"' in page.body.decode()
    assert page.headers["x-ratelimit-limit"]
    assert (await api.get(path)).code == "not_found", "a program gets the envelope"


@pytest.mark.parametrize("path", ["/api/v1/nowhere", "/v1/nowhere"])
async def test_the_api_answers_with_the_envelope_whoever_asks(api: Api, path: str) -> None:
    assert (await api.get(path, headers=BROWSER)).code == "not_found"
    assert (await api.post("/nowhere", {}, headers=BROWSER)).code == "not_found"


async def test_what_was_asked_for_cannot_become_part_of_the_page(api: Api) -> None:
    page = await api.get("/%3Cscript%3Ealert(1)%3C/script%3E{base}", headers=BROWSER)
    assert page.status == 404
    assert b"<script" not in page.body
    assert b"&lt;script&gt;" in page.body
    assert "default-src 'self'" in page.headers["content-security-policy"]


async def test_a_guide_is_found_without_its_ending(api: Api) -> None:
    page = await api.get("/docs/guides/forms", headers=BROWSER)
    assert (page.status, page.body) == (200, (await api.get("/docs/guides/forms.md", headers=BROWSER)).body)


async def test_the_list_of_guides_leads_to_each_of_them(api: Api) -> None:
    answer = await api.get("/docs/guides/index.json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    listed = json.loads(answer.body)["data"]
    assert {"page": "agents", "title": "Agents"} in listed
    assert len(listed) == len(list((guides.docs_folder() or Path()).glob("guides/*.md")))
    for guide in listed:
        assert (await api.get(f"/docs/guides/{guide['page']}.md")).status == 200, guide


async def test_the_list_of_guides_begins_with_the_tutorial(api: Api) -> None:
    page = (await api.get("/docs/guides", headers=BROWSER)).body.decode()
    assert page.index("tutorial.md") < page.index("accounts.md") < page.index("workflows.md")


def test_pictures_that_are_not_installed_are_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package carries the guides without their pictures."""
    docs = tmp_path / "docs"
    for folder in ("guides", "pictures"):
        (docs / folder).mkdir(parents=True)
    page = docs / "guides" / "agents.md"
    page.write_text(
        "# Agents\n\n![Here](../pictures/here.png) ![Gone](../pictures/gone.png)\n\n"
        "[more](../pictures/gone.png)\n"
    )
    (docs / "pictures" / "here.png").touch()
    monkeypatch.setattr(guides, "docs_folder", lambda: docs)
    shown = guides._rendered(page, "").content.decode()
    assert re.findall(r'src="([^"]+)"', shown) == ["../pictures/here.png"]
    assert "[Gone]" in shown
    assert "gone.png" not in shown
    assert "more" in shown


async def test_there_is_an_icon(api: Api) -> None:
    assert (await api.get("/favicon.ico")).body[:4] == b"\0\0\1\0"
    vector = await api.get("/favicon.svg")
    assert (vector.headers["content-type"], b"<svg" in vector.body) == ("image/svg+xml", True)


async def test_behind_a_path_of_a_proxy_every_link_stays_below_it(make_service) -> None:
    api = Api(await make_service(base_url="https://example.com/retinue/"))
    for path in ("/", "/nowhere", "/docs/guides", "/docs/guides/models.md"):
        page = (await api.get(path, headers=BROWSER)).body.decode()
        absolute = [link for link in re.findall(r'(?:href|src)="([^"]+)"', page) if link.startswith("/")]
        assert absolute
        assert all(link.startswith("/retinue/") for link in absolute), absolute


async def test_every_link_in_the_documents_leads_somewhere(api: Api) -> None:
    """From the list of guides on: pages, pictures and the headings that links name."""
    pages: dict[str, str] = {}
    waiting, seen_links, broken = ["/docs/guides"], set(), []
    while waiting:
        path = waiting.pop()
        answer = await api.get(path, headers=BROWSER)
        if answer.status != 200:
            broken.append(path)
            continue
        if not answer.headers["content-type"].startswith("text/html") or path == "/docs":
            continue
        pages[path] = answer.body.decode()
        for link in re.findall(r'(?:href|src)="([^"]+)"', pages[path]):
            target = urlsplit(urljoin(path, unescape(link)))
            if target.netloc:
                continue
            seen_links.add((path, target.path, target.fragment))
            if target.path not in pages and target.path not in waiting:
                waiting.append(target.path)
    assert broken == []
    assert len(pages) > 20
    dead = [link for link in seen_links if link[2] and f'id="{link[2]}"' not in pages.get(link[1], "")]
    assert dead == []
