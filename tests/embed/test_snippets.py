"""The snippet: what is pasted into a page, in which nobody's words are markup (T12)."""

from html.parser import HTMLParser

import pytest

from tests.factories.agents import make_agent

pytestmark = pytest.mark.either_database

HOSTILE = [
    '"><script>alert(1)</script>',
    "</script><img src=x onerror=alert(1)>",
    "'; alert(1); '",
    "a & b",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags_of(code: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(code)
    return parser.found


async def test_the_snippet_is_the_one_of_the_contract(holder, agent):
    answer = await holder.snippet()
    assert answer.status == 200
    assert answer.json() == {
        "embed_code": (
            f'<script src="http://127.0.0.1:8080/embed/widget.js" data-agent-id="{agent["id"]}" '
            'data-api-key="YOUR_EMBED_KEY" async></script>'
        ),
        "agent_id": agent["id"],
        "agent_name": "Support",
        "iframe_code": (
            f'<iframe src="http://127.0.0.1:8080/embed/{agent["id"]}?api_key=YOUR_EMBED_KEY" title="Chat" '
            'width="400" height="600" style="border:0" loading="lazy"></iframe>'
        ),
        "widget_url": "http://127.0.0.1:8080/embed/widget.js",
    }


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_an_agent_is_called_is_never_markup(admin, key_for, name):
    agent = await make_agent(admin, name=name)
    holder = await key_for(agent)
    shown = (await holder.snippet()).json()
    assert shown["agent_name"] == name
    assert [tag for tag, _ in tags_of(shown["embed_code"])] == ["script"]
    assert [tag for tag, _ in tags_of(shown["iframe_code"])] == ["iframe"]
    page = await holder.api.get(f"/embed/{agent['id']}", query={"api_key": holder.text})
    found = tags_of(page.body.decode())
    (script,) = [attributes for tag, attributes in found if tag == "script"]
    assert script["data-agent-name"] == name
    assert {tag for tag, _ in found} == {"html", "meta", "title", "body", "script"}


async def test_the_snippet_holds_no_key(holder):
    assert holder.text not in str((await holder.snippet()).json())
