"""Addresses in mails lead to the console, or say how to go on without it; the page to register is served."""

import re
from html.parser import HTMLParser
from importlib import resources
from urllib.parse import urljoin

import msgspec
import pytest

from retinue.auth.passwords import validate_password
from retinue.auth.schemas.accounts import Address, EmailVerification, PasswordReset, Registration
from retinue.kit.errors import Invalid
from retinue.kit.http.page_scripts import page_style

pytestmark = pytest.mark.either_database

ASSETS = {
    path.name: path.read_text()
    for path in resources.files("retinue.auth").joinpath("pages", "assets").iterdir()
}
PAGES = ("register",)
LINKS = {"verify-email": EmailVerification, "reset-password": PasswordReset, "forgot-password": Address}
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
SCRIPT = ASSETS["account.js"]
_ELSEWHERE = re.compile(r"https?:|[\"'(]//|url\(|@import|\bimport\b")


class Page(HTMLParser):
    def __init__(self, name):
        super().__init__()
        self.tags = []
        self.inline = []
        self._inside = None
        self.feed(ASSETS[f"{name}.html"])

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside in {"script", "style"} and data.strip():
            self.inline.append(data)

    def all(self, wanted):
        return [attributes for tag, attributes in self.tags if tag == wanted]

    def first_form(self):
        """Return the action of the first form of the page, and the names of the fields it sends."""
        form = self.all("form")[0]
        at = self.tags.index(("form", form))
        end = next((i for i, (tag, _) in enumerate(self.tags) if i > at and tag == "form"), len(self.tags))
        names = {field["name"] for tag, field in self.tags[at:end] if tag == "input" and "name" in field}
        return form["action"], names | ({form["data-token"]} if "data-token" in form else set())


@pytest.fixture(params=PAGES)
def name(request):
    return request.param


@pytest.fixture
def page(name):
    return Page(name)


@pytest.fixture
def console(tmp_path, monkeypatch):
    (tmp_path / "index.html").touch()
    monkeypatch.setattr("retinue.console.files.WEB", tmp_path)


def assert_kept_nowhere(answer):
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.usefixtures("console")
@pytest.mark.parametrize("link", ["verify-email", "reset-password"])
@pytest.mark.parametrize(
    ("query", "fragment"),
    [
        ("", ""),
        ("?token=", ""),
        ("?token=abc-1_2", "#token=abc-1_2"),
        ("?utm_source=mail&token=abc", "#token=abc"),
        ('?token=a"%0d%0aX: y%23%26b', "#token=a%22%0D%0AX%3A+y%23%26b"),
        ("?to=//evil.example&token=//evil.example", "#token=%2F%2Fevil.example"),
    ],
)
async def test_a_link_leads_to_the_console_with_its_token_in_the_fragment(api, link, query, fragment):
    answer = await api.get(f"/{link}{query}")
    assert answer.status == 302
    assert answer.headers["location"] == f"http://127.0.0.1:8080/console/{link}{fragment}"
    assert answer.body == b""
    assert_kept_nowhere(answer)


@pytest.mark.usefixtures("console")
async def test_the_page_for_a_forgotten_password_is_the_consoles(api):
    answer = await api.get("/forgot-password?token=CANARY")
    assert (answer.status, answer.headers["location"]) == (
        302,
        "http://127.0.0.1:8080/console/forgot-password",
    )
    assert_kept_nowhere(answer)


@pytest.mark.usefixtures("no_console")
@pytest.mark.parametrize("link", LINKS)
async def test_without_the_console_a_link_says_how_to_go_on_by_the_api(api, link):
    answer = await api.get(f"/{link}?token=CANARY")
    assert (answer.status, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    assert "CANARY" not in str(answer.headers) + answer.body.decode()
    assert_kept_nowhere(answer)
    text = answer.body.decode()
    assert "make console" in text
    command, _, rest = text.partition(" -d ")
    address = command.split("curl ")[1].split()[0]
    assert address == f"http://127.0.0.1:8080/auth/{link}"
    assert "-H 'Content-Type: application/json' \\" in command
    body = msgspec.json.decode(rest.split("'")[1])
    assert set(body) == set(LINKS[link].__struct_fields__)
    answer = await api.post(f"/auth/{link}", body)
    assert (answer.status, answer.code) == (422, "validation_error")


async def test_a_page_is_served_to_anyone_and_shows_nothing_of_the_address(api, name, monkeypatch, tmp_path):
    monkeypatch.setattr("retinue.console.files.WEB", tmp_path)
    answer = await api.get(f'/{name}?token=CANARY&invite_token="><script>CANARY</script>')
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body.decode() == ASSETS[f"{name}.html"]
    assert "CANARY" not in str(answer.headers)


@pytest.mark.usefixtures("console")
async def test_an_invitation_opens_in_the_console_where_that_is_built(api):
    answer = await api.get('/register?invite_token=a"%0d%0aX: y')
    assert answer.status == 302
    screen = "http://127.0.0.1:8080/console/accept-invitation#invite_token=a%22%0D%0AX%3A+y"
    assert answer.headers["location"] == screen
    assert_kept_nowhere(answer)
    assert (await api.get("/register")).status == 200


async def test_a_page_is_bound_to_its_own_origin_and_kept_nowhere(api, name):
    answer = await api.get(f"/{name}?token=secret")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-frame-options"] == "DENY"


def test_a_page_has_no_inline_script_or_style(page):
    assert page.inline == []
    for tag, attributes in page.tags:
        assert tag != "style"
        assert "style" not in attributes
        assert not any(attribute.startswith("on") for attribute in attributes)


async def test_the_assets_of_a_page_are_served_and_no_other_file(api, name, page):
    wanted = [tag.get("src") or tag.get("href") for tag in (*page.all("script"), *page.all("link"))]
    assert sorted(wanted) == ["account/account.js", "style/pages.css"]
    style = await api.get(urljoin(f"/{name}", "style/pages.css"))
    assert (style.status, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert style.body == page_style()
    script = await api.get(urljoin(f"/{name}", "account/account.js"))
    assert script.body.decode() == ASSETS["account.js"]
    assert script.headers["content-security-policy"] == POLICY
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    for other in ("register.html", "..%2f..%2ftokens.py", "account.js.map", "%2e%2e"):
        assert (await api.get(f"/account/{other}")).status == 404


def test_every_asset_is_one_of_these():
    assert set(ASSETS) == {"account.js", *(f"{page}.html" for page in PAGES)}


@pytest.mark.parametrize(
    ("name", "schema"),
    [("register", Registration)],
)
async def test_a_form_sends_exactly_what_its_route_takes(api, name, schema):
    action, fields = Page(name).first_form()
    assert fields == set(schema.__struct_fields__)
    answer = await api.post(urljoin(f"/{name}", action), dict.fromkeys(fields, ""))
    assert answer.status == 422
    assert set(answer.details) <= fields


def test_without_the_script_a_form_sends_nothing_and_never_into_an_address(page):
    assert all(form["method"] == "post" for form in page.all("form"))
    assert len(page.all("button")) == len(page.all("form"))
    assert all("disabled" in button for button in page.all("button"))


def test_every_field_has_a_label_a_place_for_its_problem_and_an_autocomplete(page):
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    labelled = {label["for"] for label in page.all("label") if "for" in label}
    for field in page.all("input"):
        if field.get("type") == "checkbox":
            assert field["data-reveals"] in ids
            continue
        assert field["id"] == field["name"]
        assert field["id"] in labelled
        assert set(field["aria-describedby"].split()) <= ids
        assert f"{field['id']}-problem" in field["aria-describedby"].split()
        assert field["autocomplete"]
        # A cut-off password would be another one than the person or their password manager keeps.
        assert (field.get("type") == "password") == ("maxlength" not in field)
    assert ("p", {"class": "result", "id": "result", "role": "status", "tabindex": "-1"}) in page.tags


def test_the_rule_that_is_shown_is_the_rule_that_is_kept(name):
    with pytest.raises(Invalid) as refused:
        validate_password("")
    demands = refused.value.details["password"].removeprefix("must have ").split(", ")
    assert len(demands) == 4
    text = ASSETS[f"{name}.html"].lower()
    assert [demand for demand in demands if demand not in text] == []
    (password,) = (field for field in Page(name).all("input") if field.get("type") == "password")
    assert password["autocomplete"] == "new-password"


@pytest.mark.parametrize("asset", sorted(ASSETS))
def test_nothing_is_fetched_from_another_place(asset):
    assert _ELSEWHERE.search(ASSETS[asset]) is None


def test_the_style_fetches_nothing_either():
    assert _ELSEWHERE.search(page_style().decode()) is None


def test_the_script_takes_no_text_for_markup_and_keeps_nothing():
    for word in ("HTML", "document.write", "eval(", "Function(", "Storage", "indexedDB", "cookie", ".style"):
        assert word not in SCRIPT


def test_the_script_takes_the_token_out_of_the_address_and_sends_it_in_a_body_only():
    assert 'history.replaceState({ token: found }, "", location.pathname)' in SCRIPT
    assert SCRIPT.count("fetch(") == 1
    assert "fetch(form.action, {" in SCRIPT
