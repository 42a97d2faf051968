"""The same service with its files in a bucket, and what happens when the storage fails."""

import time

import pytest

from retinue.adapters.blobs import Blobs
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting
from tests.adapters.s3_server import front_before, running_s3
from tests.factories.people import People
from tests.factories.uploads import picture
from tests.files.conftest import Files
from tests.services import in_each

pytestmark = pytest.mark.either_database

DAY_S = 24 * 3600


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_s3(tmp_path_factory.mktemp("s3")) as running:
        yield running


async def test_files_live_in_the_bucket(make_service, server, clock):
    service = await make_service(files_url=server.url())
    people = People(service)
    files = Files(await people.signed_in("agent_developer"))
    made = await files.upload("a.txt", b"0123456789", "form")
    object = server.home / files.person.user.tenant_id / made["file_id"]
    assert object.read_bytes() == b"0123456789"
    assert not (service.settings.data_dir / "files").exists()
    assert (await files.content(made["file_id"])).body == b"0123456789"
    part = await files.content(made["file_id"], headers={"Range": "bytes=3-5"})
    assert (part.status, part.body) == (206, b"345")
    url = (await files.share(made["file_id"])).json()["data"]["url"]
    assert (await people.api.get(url.removeprefix("http://127.0.0.1:8080"))).body == b"0123456789"
    avatar = await files.person.post(
        "/api/v1/profile/avatar", files={"avatar": ("a.png", picture(), "image/png")}
    )
    shown = avatar.json()["avatar_url"].removeprefix("http://127.0.0.1:8080")
    assert (await people.api.get(shown)).body[:4] == b"RIFF"
    assert (await files.delete(made["file_id"])).status == 204
    orphan = service.settings.data_dir / "orphan"
    orphan.touch()
    await service.instance.adapters[Blobs].put(f"{files.person.user.tenant_id}/file_orphan", orphan)
    await service.runner.drain()
    clock.advance(DAY_S + 1)
    # The storage dates by its own clock, which is behind the held one.
    assert time.time() < clock.time() - DAY_S
    await service.runner.drain()
    assert [path.name for path in object.parent.iterdir()] == [shown.rpartition("/")[2]]


async def test_a_storage_that_fails_is_unavailable_and_nothing_is_half_done(make_service, server):
    async with front_before(server) as front:
        service = await make_service(files_url=server.url(port=front.port))
        in_each(service, lambda one: setattr(one.instance.adapters[Blobs]._calls, "pauses_s", (0, 0)))
        files = Files(await People(service).signed_in("agent_developer"))
        front.faults = [("PUT", "status 503")] * 3
        refused = await files.send("a.txt", b"x", "form")
        assert (refused.status, refused.code) == (503, "unavailable")
        assert "retry-after" in refused.headers
        assert await files.list() == []
        assert list((service.settings.data_dir / "tmp").iterdir()) == []
        file_id = (await files.upload("a.txt", b"x", "form"))["file_id"]
        front.faults = [("HEAD", "status 403")]
        assert (await files.content(file_id)).status == 503
        assert (await files.content(file_id)).status == 200
        front.faults = [("DELETE", "status 500")] * 3
        assert (await files.delete(file_id)).status == 204
        await service.runner.drain()
        assert (server.home / files.person.user.tenant_id / file_id).exists()


async def test_a_setting_that_cannot_be_used_stops_the_start(make_service):
    with pytest.raises(BadSetting, match="RETINUE_FILES_URL"):
        await make_service(files_url=Secret("https://bucket.example.com"))
