"""The widget as a browser gets it. Its parts are tested where they are written: console/packages."""

import gzip
import re
from pathlib import Path

import pytest

from retinue.cli.serve_command import ServeCommand
from retinue.embed import widget
from retinue.kit.http import page_scripts
from tests.embed.keys import PATH

pytestmark = pytest.mark.either_database

SCRIPT = "/embed/widget.js"
MAX_SCRIPT_BYTES = 20_000
"""Limit of the compressed script, in bytes."""


@pytest.fixture
def built() -> page_scripts.PageScript:
    script = widget.script()
    assert script is not None, "build the widget first: make console"
    return script


@pytest.fixture
def not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_scripts, "PUBLIC_SCRIPTS", tmp_path / "nowhere")


async def test_the_script_is_served_to_every_page(api):
    answer = await api.get(SCRIPT)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(gzip.compress(answer.body)) <= MAX_SCRIPT_BYTES
    from_elsewhere = await api.get(SCRIPT, headers={"Origin": "https://example.com"})
    names = [name for name, _ in from_elsewhere.raw_headers]
    assert names.count(b"access-control-allow-origin") == 1


async def test_a_head_request_of_the_script_has_its_headers(api, built):
    answer = await api.request("HEAD", SCRIPT)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert int(answer.headers["content-length"]) == len(built.content)


async def test_the_script_is_kept_for_a_while_and_its_version_for_ever(api, built):
    answer = await api.get(SCRIPT)
    assert answer.headers["cache-control"] == "public, max-age=3600"
    kept = await api.get(SCRIPT, query={"v": built.version})
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    other = await api.get(SCRIPT, query={"v": "another"})
    assert other.headers["cache-control"] == "public, max-age=3600"
    same = await api.get(SCRIPT, headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert "content-length" not in same.headers
    assert (await api.get(SCRIPT, headers={"If-None-Match": '"other"'})).status == 200


async def test_the_page_is_for_frames_of_the_keys_own_list(api, agent, key_for):
    for domains, ancestors in (
        ([], "*"),
        (["*"], "*"),
        (
            ["example.com", "*.example.com", "https://example.com:8443", "localhost:3000", "[::1]"],
            "example.com:* *.example.com:* https://example.com:8443 localhost:3000",
        ),
        (["[::1]"], "'none'"),
    ):
        holder = await key_for(agent, allowed_domains=domains)
        answer = await api.get(f"/embed/{agent['id']}", query={"api_key": holder.text})
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = answer.headers["content-security-policy"]
        assert policy.endswith(f"frame-ancestors {ancestors}")
        assert "default-src 'none'; script-src 'self'; connect-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert holder.text in answer.body.decode()


async def test_there_is_no_page_without_a_good_key_of_the_agent(admin, api, agent, holder):
    for id, key in ((agent["id"], None), (agent["id"], "emb_x"), ("agt_x", holder.text)):
        answer = await api.get(f"/embed/{id}", query={"api_key": key} if key else None)
        assert (answer.status, answer.code) == (404, "not_found")
    await admin.delete(f"{PATH}/{holder.key['id']}")
    assert (await api.get(f"/embed/{agent['id']}", query={"api_key": holder.text})).status == 404


def test_what_a_model_says_never_becomes_markup_and_nothing_is_fetched_from_elsewhere(built):
    script = built.content.decode()
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert banned not in script
    # The name of a namespace is no address.
    assert re.findall(r"https?://[a-z]", script.replace("http://www.w3.org/2000/svg", "")) == []
    assert script.count("fetch(") == 1


async def test_without_the_script_its_addresses_say_how_to_get_it(api, agent, holder, not_built):
    page = f"/embed/{agent['id']}?api_key={holder.text}"
    for address in (SCRIPT, "/embed/preview", "/embed/preview.js", page):
        answer = await api.get(address)
        assert (answer.status, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8"), address
        assert answer.headers["cache-control"] == "no-store"
        assert answer.body.decode().strip() == page_scripts.NOT_BUILT
    assert "make console" in page_scripts.NOT_BUILT
    assert (await api.get("/embed/agt_x?api_key=emb_x")).status == 404


async def test_the_start_of_the_server_says_that_the_scripts_are_missing(service, not_built, capsys):
    command = ServeCommand(service.instance.settings)
    command.service = service
    command._print_addresses()
    assert page_scripts.NOT_BUILT in capsys.readouterr().out
