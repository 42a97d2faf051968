"""Files of a form: uploaded for one field, taken up once, served as attachments to those who may read."""

import pytest

from retinue.files.jobs import expire_files
from retinue.files.models import File
from retinue.forms.models import FormUpload
from retinue.forms.uploading import forget_uploads
from retinue.kit.jobs.declare import NoPayload
from tests.contract.world import picture
from tests.factories.forms import NAME, PATH, address, make_form, send, sent, submission

PAPER = {
    "id": "paper",
    "type": "file",
    "validation": {"allowed_types": [".PDF", "txt", "png", "svg", "jpg", "php", "html"], "max_size_mb": 0.01},
}


async def upload(api, form, name="a.txt", content=b"hello", field="paper"):
    files = {"file": (name, content, "application/x-whatever")}
    return await api.post(address(form, "upload"), files=files, fields={"field_id": field})


async def test_a_file_belongs_to_its_field_and_to_one_submission(person, api, people) -> None:
    form = await make_form(person, NAME, PAPER, {"id": "second", "type": "file"})
    other = await make_form(person, NAME, PAPER)
    answer = await upload(api, form)
    assert answer.status == 201
    stored = answer.json()["data"]
    assert stored == {
        "file_id": stored["file_id"],
        "filename": "a.txt",
        "size_bytes": 5,
        "mime_type": "text/plain",
    }
    id = stored["file_id"]
    here = f"{PATH}/{form['id']}/files/{id}"
    served = await person.get(here)
    assert (served.status, served.body) == (200, b"hello")
    assert served.headers["content-type"] == "text/plain"
    assert served.headers["content-disposition"].startswith("attachment")
    assert served.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert (await person.get(here, headers={"range": "bytes=1-2"})).body == b"el"
    assert (await person.get(f"{PATH}/{other['id']}/files/{id}")).code == "file_not_found"
    assert (await api.get(here)).status == 401
    for where, data in (
        (other, {"paper": id}),
        (form, {"second": id}),
        (form, {"paper": "file_" + "a" * 26}),
    ):
        refused = await send(api, where, {"name": "A", **data})
        assert (refused.status, len(refused.details["errors"])) == (400, 1), refused
    sbm = await sent(api, form, {"name": "A", "paper": [id]})
    kept = await submission(person, form, sbm)
    assert kept["files"] == [{"field_id": "paper", **stored}]
    assert (await send(api, form, {"name": "B", "paper": id})).status == 400, "single use"
    assert (await person.delete(f"/api/v1/files/{id}")).code == "file_in_use"
    assert (await person.delete(f"{PATH}/{form['id']}/submissions/{sbm}")).status == 204
    assert (await person.get(here)).status == 404
    async with people.context() as ctx:
        assert await ctx.system("test").count(File) == 0


async def test_a_file_that_nobody_submits_goes_after_a_day(person, api, people, clock) -> None:
    form = await make_form(person, NAME, PAPER)
    kept, left = [(await upload(api, form)).json()["data"]["file_id"] for _ in range(2)]
    await sent(api, form, {"name": "A", "paper": kept})
    clock.advance(24 * 3600 + 1)
    assert (await send(api, form, {"name": "A", "paper": left})).status == 400
    for job in (expire_files, forget_uploads):
        await job.run(people.context().apart(), NoPayload())
    person = await people.sign_in(person.user)
    assert (await person.get(f"{PATH}/{form['id']}/files/{kept}")).status == 200
    assert (await person.get(f"{PATH}/{form['id']}/files/{left}")).status == 404
    async with people.context() as ctx:
        assert [one.id for one in await ctx.system("test").all(FormUpload)] == [kept]


REFUSED = [
    ("x.png", b"<html><script>alert(1)</script>", 415),
    ("x.pdf", b"%PDF-1.7 <script>app.alert(1)</script>", 415),
    ("x.jpg.exe", b"\xff\xd8\xff", 415),
    ("x.txt", b"MZ\0\0" + b"\0" * 60, 415),
    ("x.php", b"<?php system($_GET['x']);", 415),
    ("x.svg", b"<html><body onload=x>", None),
    ("x.txt", b"", 415),
    (".htaccess", b"Options +Indexes", 415),
    ("noending", b"x", 415),
    ("x.zip", b"PK\x03\x04", 415),
    ("x.txt", b"x" * 10_486, 413),
    ("x.png", picture() + b"PK\x05\x06" + b"\0" * 18, 415),
]


@pytest.mark.either_database
async def test_files_that_are_not_what_they_say_are_refused(person, api, people, service) -> None:
    form = await make_form(person, NAME, PAPER)
    wrong = []
    for name, content, status in REFUSED:
        answer = await upload(api, form, name, content)
        if status is not None and answer.status != status:
            wrong.append((name, answer))
    assert wrong == []
    for name in (
        "../../etc/cron.d/x.txt",
        "..\\..\\x.TXT",
        "/abs.txt",
        "CON.txt",
        "a\u202etxt.exe.txt",
        "x" * 5000 + ".txt",
    ):
        answer = await upload(api, form, name)
        assert answer.status == 201, (name, answer)
        shown = answer.json()["data"]["filename"]
        assert not set(shown) & set("/\\\u202e"), shown
        assert len(shown) <= 255
    active = await upload(api, form, "x.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    assert active.json()["data"]["mime_type"] == "application/octet-stream"
    assert (await upload(api, form, field="name")).details.keys() == {"field_id"}
    assert (await upload(api, form, field="")).status == 422
    assert (await upload(api, form, field="nothing")).code == "field_not_found"
    body = {"file": {"filepath": "/etc/passwd"}, "field_id": "paper"}
    assert (await api.post(address(form, "upload"), body)).status == 415
    assert (await api.post(address(form, "upload"))).status == 415
    draft = await make_form(person, NAME, PAPER, is_draft=True)
    assert (await upload(api, draft)).code == "form_not_found"
    small = await make_form(person, NAME, PAPER, settings={"limits": {"upload": 1}})
    assert [(await upload(api, small)).status for _ in range(2)] == [201, 429]


async def test_someone_signed_in_submits_a_file_of_their_own(person, people, api) -> None:
    form = await make_form(person, NAME, PAPER)
    answer = await person.post(
        "/api/v1/files", files={"file": ("a.txt", b"x", "text/plain")}, fields={"purpose": "form"}
    )
    id = answer.json()["data"]["file_id"]
    data = {"data": {"name": "A", "paper": id}}
    assert (await api.post(address(form, "submit"), data)).status == 400
    assert (await person.post(f"{PATH}/{form['id']}/submit", data)).status == 201
    assert (await person.get(f"{PATH}/{form['id']}/files/{id}")).body == b"x"
