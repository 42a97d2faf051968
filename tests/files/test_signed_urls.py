"""Signed addresses: anyone may fetch this one file until then, and nothing else."""

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

from retinue.kit.crypto import SealedRing
from retinue.kit.ids import new_id
from tests.factories.happenings import audits
from tests.services import in_each

BASE = "http://127.0.0.1:8080"
HOUR_S = 3600


def split(url: str) -> tuple[str, dict[str, str]]:
    assert url.startswith(f"{BASE}/api/v1/public/files/file_")
    parts = urlsplit(url)
    return parts.path, dict(parse_qsl(parts.query))


async def shared_clip(files) -> tuple[str, dict[str, str]]:
    """Return the id of a file and its signed address, which holds for an hour."""
    id = (await files.upload("clip.mp3", b"ID3" + b"x" * 20))["file_id"]
    answer = await files.share(id, {"expires_in": HOUR_S})
    assert answer.status == 200
    return id, answer.json()["data"]


async def test_whoever_has_the_address_fetches_the_file_until_it_expires(api, files, clock):
    _, made = await shared_clip(files)
    path = made["url"].removeprefix(BASE)
    whole = await api.get(path)
    assert (whole.status, len(whole.body), whole.headers["content-type"]) == (200, 23, "audio/mpeg")
    assert whole.headers["content-disposition"].startswith("attachment")
    assert whole.headers["content-security-policy"] == "sandbox; default-src 'none'"
    part = await api.get(path, headers={"Range": "bytes=0-2"})
    assert (part.status, part.body) == (206, b"ID3")
    clock.advance(HOUR_S - 2)
    assert (await api.get(path)).status == 200
    clock.advance(2)
    assert (await api.get(path)).status == 404


async def test_sharing_a_file_is_audited_without_its_signature(people, files):
    id, made = await shared_clip(files)
    assert set(made) == {"url", "expires_at"}
    (shared,) = await audits(people, "system.file.shared")
    assert shared.metadata["file_id"] == id
    assert shared.metadata["expires_at"] == made["expires_at"]
    assert made["url"].rpartition("signature=")[2] not in str(shared)


async def test_an_address_opens_nothing_but_its_file_and_cannot_be_changed(api, files):
    one, other = [(await files.upload(name))["file_id"] for name in ("one.txt", "other.txt")]
    path, query = split((await files.share(one)).json()["data"]["url"])
    assert (await api.get(path, query=query)).status == 200
    nobodys = await api.get(f"/api/v1/public/files/{new_id('file')}", query=query)
    assert (nobodys.status, nobodys.code) == (404, "file_not_found")
    later = str(int(query["expires"]) + 1)
    changed = [
        (path.replace(one, other), query),
        (path, {**query, "expires": later}),
        (path, {**query, "key": "0"}),
        (path, {**query, "key": "2"}),
        (path, {**query, "key": "-1"}),
        (path, {**query, "signature": query["signature"][:-1]}),
        (path, {**query, "signature": "\u00fc" * 43}),
        (path, {**query, "signature": ""}),
        (path, {name: value for name, value in query.items() if name != "signature"}),
        (path, {}),
    ]
    for where, what in changed:
        answer = await api.get(f"{where}?{urlencode(what)}")
        assert (answer.status, answer.body) == (404, nobodys.body), what
    for what in ({**query, "expires": "soon"}, {**query, "key": "x"}):
        assert (await api.get(path, query=what)).status == 422
    assert (await files.delete(one)).status == 204
    assert (await api.get(path, query=query)).body == nobodys.body


async def test_how_long_is_bounded_and_a_sealed_vault_signs_nothing(service, api, files):
    id = (await files.upload())["file_id"]
    for wrong in (0, -1, 86_401, "1h", 1.5, None):
        assert (await files.share(id, {"expires_in": wrong})).status == 422, wrong
    path, query = split((await files.share(id, {"expires_in": 86_400})).json()["data"]["url"])
    vault = service.instance.vault
    in_each(service, lambda one: setattr(one.instance, "vault", replace(vault, ring=SealedRing())))
    for answer in (await files.share(id), await api.get(path, query=query)):
        assert (answer.status, answer.code) == (503, "vault_sealed")
    in_each(service, lambda one: setattr(one.instance, "vault", vault))
    assert (await api.get(path, query=query)).status == 200
