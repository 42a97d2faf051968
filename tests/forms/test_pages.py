"""The page of a form and its script as they are served; tests/browser shows what they do."""

import gzip
import re
from pathlib import Path

import pytest

from retinue.cli.serve_command import ServeCommand
from retinue.forms.pages.script import form_script
from retinue.kit.http import page_scripts
from tests.factories.forms import NAME, PATH, SESSION, address, make_form

HOSTILE = "</title><script>alert(1)</script>\"'>{slug}"
SCRIPT = "/embed/form.js"
MAX_SCRIPT_BYTES = 18_500
"""Limit of the compressed script, in bytes."""


@pytest.fixture
def built() -> page_scripts.PageScript:
    script = form_script()
    assert script is not None, "build the scripts first: make console"
    return script


@pytest.fixture
def not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only the widget's script where built scripts are."""
    (tmp_path / "widget.js").write_text("")
    monkeypatch.setattr(page_scripts, "PUBLIC_SCRIPTS", tmp_path)


async def test_the_page_shows_its_name_as_text_and_may_do_next_to_nothing(person, api, built) -> None:
    form = await make_form(person, name=HOSTILE, description=HOSTILE)
    page = await api.get(f"/f/{form['slug']}")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    text, version = page.body.decode(), built.version
    assert re.findall("<script[^>]*>", text) == [
        f'<script src="../embed/form.js?v={version}" data-form="{form["slug"]}" data-kind="page">'
    ]
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&gt;{slug}") == 4
    framed = await api.get(f"/f/{form['slug']}?embed=1")
    assert framed.headers["content-security-policy"].endswith("frame-ancestors *")
    assert 'data-kind="frame"' in framed.body.decode()
    stats = (await person.get(f"{PATH}/{form['id']}")).json()["data"]["stats"]
    assert stats["views"] == 0


@pytest.mark.either_database
@pytest.mark.parametrize(
    ("logo", "source"),
    [
        ("https://cdn.example.com/a.png", " https://cdn.example.com;"),
        ("https://cdn.example.com:8443/a.png", " https://cdn.example.com:8443;"),
        ("https://bücher.example/a.png", " https://xn--bcher-kva.example;"),
        ("/a.png", ";"),
        ("https://[::1]/a.png", ";"),
        ("https://a.example;script-src/a.png", ";"),
        ("https://a.example,b/a.png", ";"),
        ("https://a..example/a.png", ";"),
        (f"https://{'ü' * 70}.example/a.png", ";"),
    ],
)
async def test_the_policy_names_the_place_of_the_logo_and_no_more(person, api, logo, source) -> None:
    form = await make_form(person, branding={"logo_url": logo})
    policy = (await api.get(f"/f/{form['slug']}")).headers["content-security-policy"]
    assert f"img-src 'self' data:{source}" in policy
    assert policy.count(";") == 7


async def test_where_there_is_no_form_a_browser_gets_a_page_and_a_program_the_error(person, api) -> None:
    draft = await make_form(person, is_draft=True)
    for slug in (draft["slug"], "nobody-has-this", "%2e%2e", "<script>"):
        for accept in ("text/html,*/*;q=0.8", "*/*"):
            answer = await api.get(f"/f/{slug}", headers={"accept": accept})
            assert answer.status == 404
            if accept == "*/*":
                assert answer.code == "form_not_found"
            else:
                assert b"There is no form here" in answer.body
                assert "script" not in answer.headers["content-security-policy"]


async def test_every_address_of_a_form_is_the_one_of_its_page(person, api) -> None:
    form = await make_form(person)
    page = f"http://127.0.0.1:8080/f/{form['slug']}"
    assert (await person.get(f"{PATH}/{form['id']}")).json()["data"]["public_url"] == page
    snippets = (await api.get(address(form, "embed"))).json()["data"]
    assert snippets == {
        "script_embed": f'<script src="http://127.0.0.1:8080/embed/form.js" data-form="{form["slug"]}" async>'
        "</script>",
        "iframe_embed": f'<iframe src="{page}?embed=1" title="Form" width="100%" height="640" '
        'style="border:0" loading="lazy"></iframe>',
    }
    saved = await api.put(address(form, "progress", SESSION), {"data": {"name": "Ada"}})
    assert saved.json()["data"]["resume_url"] == f"{page}?session={SESSION}"


@pytest.mark.either_database
async def test_the_script_is_for_every_page_and_never_makes_markup(api, built) -> None:
    answer = await api.get(SCRIPT)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert len(gzip.compress(answer.body)) <= MAX_SCRIPT_BYTES
    text = answer.body.decode()
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert banned not in text
    assert re.findall(r"https?://[a-z]|localStorage|document\.cookie", text) == []
    # On other sites, the size of a rem is up to the site.
    assert re.findall(r"\drem\b", text) == []
    same = await api.get(SCRIPT, headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status, same.body) == (304, b"")
    kept = await api.get(SCRIPT, query={"v": built.version})
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_without_the_script_its_addresses_say_how_to_get_it(person, api, not_built) -> None:
    page = f"/f/{(await make_form(person))['slug']}"
    for path in (SCRIPT, page, f"{page}?embed=1"):
        answer = await api.get(path, headers={"accept": "text/html"})
        assert (answer.status, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8"), path
        assert answer.headers["cache-control"] == "no-store"
        assert answer.body.decode().strip() == page_scripts.NOT_BUILT
    assert "form pages" in page_scripts.NOT_BUILT
    missing = await api.get("/f/nobody-has-this", headers={"accept": "text/html"})
    assert (missing.status, b"There is no form here" in missing.body) == (404, True)


@pytest.mark.either_database
async def test_the_start_of_the_server_says_that_the_script_is_missing(service, not_built, capsys) -> None:
    command = ServeCommand(service.instance.settings)
    command.service = service
    command._print_addresses()
    assert page_scripts.NOT_BUILT in capsys.readouterr().out


async def test_a_browser_sends_a_whole_number_back_without_its_point(person, api) -> None:
    """JSON's 2.0 is 2 in JavaScript."""
    choice = {"id": "n", "type": "radio", "options": [2.0, {"value": "3", "label": "x"}, 3.0]}
    form = await make_form(person, NAME, choice)
    for given, kept in ((2, 2.0), (2.0, 2.0), ("2.0", 2.0), ("2", 2.0), ("3", "3"), ("3.0", 3.0)):
        body = {"data": {"name": "Ada", "n": given}}
        answer = await api.post(address(form, "submit"), body)
        assert answer.status == 201, given
        (one,) = (await person.get(f"{PATH}/{form['id']}/submissions?per_page=1")).json()["data"]
        assert one["data"]["n"] == kept
