"""The console's files: one page with a fresh nonce, assets cached for ever, and help if nothing is built."""

import gzip
import re
from pathlib import Path

import pytest

from retinue.console import files
from tests.client import Api

pytestmark = pytest.mark.either_database
BROWSER = {"accept": "text/html,*/*;q=0.8"}
INDEX = '<meta content="__BASE__"><script nonce="__NONCE__" src="./assets/main-abc.js"></script>'


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text(INDEX)
    (assets / "main-abc.js.gz").write_bytes(gzip.compress(b"start()"))
    (tmp_path / "secret.js").write_text("no")
    monkeypatch.setattr(files, "WEB", tmp_path)
    return tmp_path


@pytest.fixture
def missing_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WEB", tmp_path / "nowhere")


@pytest.mark.parametrize("path", ["/console/", "/console/agents", "/console/agents/agt_1/versions/3"])
async def test_every_address_gives_the_page_with_a_nonce_of_its_own(api: Api, built: Path, path: str) -> None:
    first, second = await api.get(path), await api.get(path)
    assert first.status == 200
    nonces = [re.search(r'nonce="([\w-]{22})"', page.body.decode())[1] for page in (first, second)]
    assert nonces[0] != nonces[1]
    policy = first.headers["content-security-policy"]
    assert f"script-src 'self' 'nonce-{nonces[0]}'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert first.headers["cache-control"] == "no-store"
    assert first.headers["cross-origin-opener-policy"] == "same-origin"
    assert 'src="/console/assets/main-abc.js"' in first.body.decode()


async def test_assets_are_compressed_and_immutable(api: Api, built: Path) -> None:
    packed = await api.get("/console/assets/main-abc.js", headers={"accept-encoding": "gzip, br"})
    assert gzip.decompress(packed.body) == b"start()"
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert packed.headers["vary"] == "Accept-Encoding"
    plain = await api.get("/console/assets/main-abc.js", headers={"accept-encoding": "gzip;q=0"})
    assert (plain.body, "content-encoding" in plain.headers) == (b"start()", False)


@pytest.mark.parametrize("name", ["none.js", "%2e%2e%2fsecret.js", "main-abc.js.map", ".sources"])
async def test_nothing_else_is_served(api: Api, built: Path, name: str) -> None:
    assert (await api.get(f"/console/assets/{name}")).status == 404


async def test_behind_a_path_of_a_proxy_the_page_stays_below_it(make_service, built: Path) -> None:
    api = Api(await make_service(base_url="https://example.com/retinue/"))
    page = (await api.get("/console/")).body.decode()
    assert 'src="/retinue/console/assets/main-abc.js"' in page
    assert 'content="/retinue"' in page
    assert (await api.get("/", headers=BROWSER)).headers["location"] == "/retinue/console/"


async def test_browsers_are_led_from_the_start_to_the_console(api: Api, built: Path) -> None:
    led = await api.get("/", headers=BROWSER)
    assert (led.status, led.headers["location"]) == (302, "/console/")
    assert (await api.get("/")).status == 200, "a program gets the page as before"


async def test_without_files_the_page_says_how_to_get_them(api: Api, missing_console: None) -> None:
    page = await api.get("/console/")
    assert page.status == 503
    assert b"make console" in page.body
    assert b"pip install retinue" in page.body
    assert (await api.get("/", headers=BROWSER)).status == 200


async def test_the_console_is_no_part_of_the_api(api: Api) -> None:
    paths = (await api.get("/openapi.json")).json()["paths"]
    assert not [path for path in paths if path.startswith("/console")]
