"""Tests of a form's files: uploaded for one field, claimed once, served as attachments."""

import pytest

from retinue.files.jobs import expire_files
from retinue.files.models import File
from retinue.forms.intake.file_uploads import purge_uploads
from retinue.forms.models import FormUpload
from tests.client import HOST, Api
from tests.factories.forms import NAME, PATH, address, make_form, send, submission, submit, upload
from tests.factories.people import People
from tests.factories.uploads import picture

PAPER = {
    "id": "paper",
    "type": "file",
    "validation": {"allowed_types": [".PDF", "txt", "png", "svg", "jpg", "php", "html"], "max_size_mb": 0.01},
}


@pytest.fixture
async def form(person):
    return await make_form(person, NAME, PAPER, {"id": "second", "type": "file"})


@pytest.fixture
async def stored(api, form):
    answer = await upload(api, form)
    assert answer.status == 201
    return answer.json()["data"]


async def test_an_uploaded_file_is_an_attachment_for_readers_of_its_form(person, api, form, stored) -> None:
    assert stored == {
        "file_id": stored["file_id"],
        "filename": "a.txt",
        "size_bytes": 5,
        "mime_type": "text/plain",
    }
    other = await make_form(person, NAME, PAPER)
    here = f"{PATH}/{form['id']}/files/{stored['file_id']}"
    served = await person.get(here)
    assert (served.status, served.body) == (200, b"hello")
    assert served.headers["content-type"] == "text/plain"
    assert served.headers["content-disposition"].startswith("attachment")
    assert served.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert (await person.get(here, headers={"range": "bytes=1-2"})).body == b"el"
    assert (await person.get(f"{PATH}/{other['id']}/files/{stored['file_id']}")).code == "file_not_found"
    assert (await api.get(here)).status == 401


async def test_a_file_is_submitted_once_and_only_in_the_field_it_was_uploaded_for(
    person, api, form, stored
) -> None:
    id = stored["file_id"]
    for where, data in (
        (await make_form(person, NAME, PAPER), {"paper": id}),
        (form, {"second": id}),
        (form, {"paper": "file_" + "a" * 26}),
    ):
        refused = await send(api, where, {"name": "A", **data})
        assert (refused.status, len(refused.details["errors"])) == (400, 1), refused
    kept = await submission(person, form, await submit(api, form, {"name": "A", "paper": [id]}))
    assert kept["files"] == [{"field_id": "paper", **stored}]
    assert (await send(api, form, {"name": "B", "paper": id})).status == 400, "single use"


async def test_a_submitted_file_is_deleted_with_its_submission(person, api, people, form, stored) -> None:
    id = stored["file_id"]
    sbm = await submit(api, form, {"name": "A", "paper": [id]})
    assert (await person.delete(f"/api/v1/files/{id}")).code == "file_in_use"
    assert (await person.delete(f"{PATH}/{form['id']}/submissions/{sbm}")).status == 204
    assert (await person.get(f"{PATH}/{form['id']}/files/{id}")).status == 404
    async with people.context() as ctx:
        assert await ctx.system("test").count(File) == 0


async def test_a_file_that_nobody_submits_goes_after_a_day(person, api, people, clock) -> None:
    form = await make_form(person, NAME, PAPER)
    kept, left = [(await upload(api, form)).json()["data"]["file_id"] for _ in range(2)]
    await submit(api, form, {"name": "A", "paper": kept})
    clock.advance(24 * 3600 + 1)
    assert (await send(api, form, {"name": "A", "paper": left})).status == 400
    for job in (expire_files, purge_uploads):
        await job(people.context().detached())
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


@pytest.mark.either_database
async def test_names_of_files_are_made_harmless(person, api) -> None:
    form = await make_form(person, NAME, PAPER)
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


@pytest.mark.either_database
async def test_active_content_is_stored_without_its_type(person, api) -> None:
    form = await make_form(person, NAME, PAPER)
    active = await upload(api, form, "x.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    assert active.json()["data"]["mime_type"] == "application/octet-stream"


@pytest.mark.either_database
async def test_an_upload_names_a_field_for_files_and_is_a_form(person, api) -> None:
    form = await make_form(person, NAME, PAPER)
    assert (await upload(api, form, field="name")).details.keys() == {"field_id"}
    assert (await upload(api, form, field="")).status == 422
    assert (await upload(api, form, field="nothing")).code == "field_not_found"
    body = {"file": {"filepath": "/etc/passwd"}, "field_id": "paper"}
    assert (await api.post(address(form, "upload"), body)).status == 415
    assert (await api.post(address(form, "upload"))).status == 415


@pytest.mark.either_database
async def test_a_draft_takes_no_uploads_and_a_form_only_as_many_as_its_limit(person, api) -> None:
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


class Sender:
    """A client that sends a large file bit by bit, and counts how much of it was taken."""

    def __init__(self, service, path: str, *, field_first: str = "") -> None:
        self._service = service
        self._path = path
        field = f'--x\r\nContent-Disposition: form-data; name="field_id"\r\n\r\n{field_first}\r\n'
        head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        self._next = ((field if field_first else "") + head).encode()
        self.taken = 0

    async def _receive(self):
        chunk, self._next = self._next, b"a" * 65_536
        self.taken += len(chunk)
        return {"type": "http.request", "body": chunk, "more_body": self.taken < 100 * 1024 * 1024}

    async def answer(self, *, declared: int | None = None) -> int:
        """The status of the answer; the body goes on until the server has had enough."""
        headers = [(b"host", HOST.encode()), (b"content-type", b"multipart/form-data; boundary=x")]
        if declared is not None:
            headers.append((b"content-length", str(declared).encode()))
        scope = {
            "type": "http",
            "method": "POST",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": b"",
            "headers": headers,
            "client": ("203.0.113.7", 1),
            "scheme": "http",
        }
        statuses: list[int] = []

        async def send(message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await self._service(scope, self._receive, send)
        return statuses[0]


async def test_nothing_is_read_for_a_form_that_takes_no_uploads(person, service) -> None:
    draft = await make_form(person, NAME, PAPER, is_draft=True)
    closed = await make_form(person, NAME, PAPER, settings={"close_at": "2020-01-01T00:00:00Z"})
    spent = await make_form(person, NAME, PAPER, settings={"limits": {"upload": 1}})
    assert await Sender(service, address(spent, "upload")).answer() == 413
    for path, status in (
        (address({"slug": "nobody"}, "upload"), 404),
        (address(draft, "upload"), 404),
        (address(closed, "upload"), 409),
        (address(spent, "upload"), 429),
    ):
        sender = Sender(service, path)
        assert (await sender.answer(), sender.taken) == (status, 0), path


async def test_no_more_is_read_than_a_field_may_take(person, service) -> None:
    large = {"id": "large", "type": "file", "validation": {"max_size_mb": 1}}
    form = await make_form(person, NAME, PAPER, large)
    plain = await make_form(person, NAME)
    by_order = Sender(service, address(form, "upload"), field_first="paper")
    assert await by_order.answer() == 413
    assert by_order.taken < 100_000
    for path, most in ((address(form, "upload"), 1_300_000), (address(plain, "upload"), 400_000)):
        sender = Sender(service, path)
        assert await sender.answer() == 413
        assert sender.taken < most
        announced = Sender(service, path)
        assert (await announced.answer(declared=50_000_000), announced.taken) == (413, 0)
        endless = Sender(service, path)
        assert (await endless.answer(declared=10**4000), endless.taken) == (413, 0)
    unknown = Sender(service, address(form, "upload"), field_first="nothing")
    assert await unknown.answer() == 404
    assert unknown.taken < 100_000


async def test_a_form_takes_so_many_bytes_a_day_from_the_public(make_service, clock) -> None:
    service = await make_service(form_upload_quota=20_000)
    person = await People(service).super_admin()
    api = Api(service)
    form, other = [await make_form(person, NAME, PAPER) for _ in range(2)]
    answers = [await upload(api, form, content=b"x" * 9_000) for _ in range(3)]
    assert [answer.status for answer in answers] == [201, 201, 429]
    assert answers[2].code == "rate_limit_exceeded"
    assert answers[2].details["limit"] == 20_000
    assert (await upload(api, other, content=b"x" * 9_000)).status == 201, "each form has its own"
    await submit(api, form, {"name": "A", "paper": answers[0].json()["data"]["file_id"]})
    assert (await upload(api, form, content=b"x" * 9_000)).status == 429, "what was submitted counts too"
    clock.advance(24 * 3600 + 1)
    assert (await upload(api, form, content=b"x" * 9_000)).status == 201
