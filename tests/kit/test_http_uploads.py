import asyncio
import errno
import hashlib
import os
import stat
import threading

import pytest

from retinue.kit.db.errors import StorageFull
from retinue.kit.errors import FileTooLarge, Invalid, Unavailable, UnsupportedMediaType
from retinue.kit.http import uploads
from retinue.kit.http.bodies import ClientGone
from retinue.kit.http.uploads import FileLimit, read_form

TYPE = b"multipart/form-data; boundary=limit"


def part(disposition, content, *headers):
    lines = [b"--limit", b"Content-Disposition: form-data; " + disposition, *headers, b"", content]
    return b"\r\n".join(lines) + b"\r\n"


def field(name, content):
    return part(b'name="%b"' % name, content)


def file(filename, content, name=b"file"):
    return part(
        b'name="%b"; filename="%b"' % (name, filename), content, b"Content-Type: text/plain; charset=x"
    )


def body(*parts):
    return b"".join(parts) + b"--limit--\r\n"


class Sender:
    """A body in pieces of a size, then the end of the body or of the connection."""

    def __init__(self, content, size=65536, *, leaves=False):
        self._pieces = [content[start : start + size] for start in range(0, len(content), size)] or [b""]
        self._leaves = leaves
        self.sent = 0

    async def __call__(self):
        if self.sent == len(self._pieces):
            return {"type": "http.disconnect"}
        self.sent += 1
        more = self.sent < len(self._pieces) or self._leaves
        return {"type": "http.request", "body": self._pieces[self.sent - 1], "more_body": more}


@pytest.fixture
def read(tmp_path):
    def read(content, content_type=TYPE, **options):
        receive = content if callable(content) else Sender(content)
        options = {"max_total": 1 << 20, **options, "max_file": FileLimit(options.get("max_file", 1 << 19))}
        return read_form(receive, content_type, spool_dir=tmp_path / "spool", **options)

    yield read
    assert not list(tmp_path.glob("spool/*")), "every test leaves the spool empty"


@pytest.mark.parametrize("size", [1, 7, 65536])
async def test_fields_and_files_come_out_as_they_went_in(read, size):
    content = bytes(range(256)) * 40 + b"\r\n--limi\r\n--limitX\r\n-"
    sent = body(field(b"mode", b"append"), file(b"a.txt", content), field("größe".encode(), "ü\r\n".encode()))
    async with await read(Sender(sent, size)) as form:
        assert form.fields == {"mode": "append", "größe": "ü\r\n"}
        (upload,) = form.files
        assert (upload.field, upload.filename, upload.declared_type) == ("file", "a.txt", "text/plain")
        assert (upload.size, upload.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert upload.path.read_bytes() == content
        assert stat.S_IMODE(upload.path.stat().st_mode) == 0o600
        assert form.file("file") is upload
        with pytest.raises(Invalid) as missing:
            form.file("avatar")
        assert set(missing.value.details) == {"avatar"}


async def test_a_large_file_is_spooled_while_it_streams(read, tmp_path):
    content = os.urandom(3 << 20)
    sender = Sender(body(file(b"big.bin", content), file(b"empty.bin", b"")))
    largest = 0

    async def receive():
        nonlocal largest
        spooled = sum(path.stat().st_size for path in tmp_path.glob("spool/*"))
        largest = max(largest, sender.sent * 65536 - spooled)
        return await sender()

    async with await read(receive, max_total=4 << 20, max_file=4 << 20) as form:
        big, empty = form.files
        assert big.path.read_bytes() == content
        assert (empty.size, empty.path.read_bytes()) == (0, b"")
    assert largest <= uploads._SPILL_BYTES + 65536


async def test_a_file_that_was_moved_away_is_kept(read, tmp_path):
    async with await read(body(file(b"a.txt", b"kept"), file(b"b.txt", b"left"))) as form:
        form.files[0].path.rename(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == b"kept"


async def test_the_same_form_has_the_same_digest_whatever_its_boundary(read):
    sent = body(field(b"mode", b"append"), file(b"a.txt", b"content"))
    digests = []
    for content, boundary in (
        (sent, b"limit"),
        (sent.replace(b"--limit", b"--other"), b"other"),
        (sent.replace(b"append", b"upsert"), b"limit"),
        (sent.replace(b"content", b"c0ntent"), b"limit"),
        (sent.replace(b"a.txt", b"b.txt"), b"limit"),
    ):
        async with await read(content, b'Multipart/Form-Data; charset=x; boundary="%b"' % boundary) as form:
            digests.append(form.body_sha256)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


@pytest.mark.parametrize(
    "content_type",
    [
        b"",
        b"application/json",
        b"text/plain",
        b"multipart/mixed; boundary=limit",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data",
        b"multipart/form-data; boundary=",
        b'multipart/form-data; boundary=""',
        b"multipart/form-data; boundary=" + b"b" * 71,
        b"multipart/form-data; boundary=" + b"b" * 1_000_000,
        b"multipart/form-data; " + b"a;" * 100_000,
    ],
)
async def test_what_is_no_form_is_the_wrong_media_type(read, content_type):
    sender = Sender(body(field(b"a", b"b")))
    with pytest.raises(UnsupportedMediaType):
        await read(sender, content_type)
    assert sender.sent == 0


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        pytest.param(body(file(b"a", bytes(101))), {"max_file": 100}, id="file"),
        pytest.param(body(file(b"a", bytes(300))), {"max_total": 200}, id="total"),
        pytest.param(body(*[file(b"a", b"")] * 21), {}, id="files"),
        pytest.param(body(*[field(b"%d" % number, b"") for number in range(101)]), {}, id="fields"),
        pytest.param(body(*[field(b"a", b"")] * 1001), {}, id="1,001 parts"),
        pytest.param(body(field(b"a", bytes(65537))), {}, id="field"),
        pytest.param(body(field(b"a" * 9000, b"")), {}, id="long part header"),
        pytest.param(
            body(part(b'name="a"', b"", *[b"X-%d: y" % number for number in range(10_000)])),
            {},
            id="10k part headers",
        ),
        pytest.param(b"--limit\r\nX:" + b" " * 100_000, {}, id="blank part header"),
        pytest.param(b"--limit\r\n" + b"X" * 100_000, {}, id="endless header name"),
        pytest.param(body(file(b"a", b"\r\n--limitX" * 10_000)), {}, id="near misses"),
    ],
)
async def test_any_limit_passed_is_file_too_large(read, sent, limits):
    with pytest.raises(FileTooLarge):
        await read(sent, **limits)


async def test_the_first_byte_over_the_limit_stops_the_reading(read):
    fits, passes = (Sender(body(file(b"a", bytes(size))), 1000) for size in (100_000, 10_000_000))
    async with await read(fits, max_file=100_000) as form:
        assert form.files[0].size == 100_000
    with pytest.raises(FileTooLarge):
        await read(passes, max_file=100_000, max_total=1 << 30)
    assert passes.sent <= 102


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"no boundary at all",
        b"--limit",
        b"--limit\r\n",
        body(field(b"a", b"b"))[:-4],
        part(b'name="a"', b"b"),
        b"--limit\r\nContent-Disposition form-data\r\n\r\n\r\n--limit--",
        b"--limit\r\nContent-Disposition: form-data; name=a\n\nb\r\n--limit--",
        b"--limit\r\n\r\nb\r\n--limit--",
        body(part(b"", b"b")),
        body(part(b'filename="a"', b"b")),
        body(part(b'name="\xff"', b"b")),
        body(field(b"a", b"\xff")),
        body(field(b"a", b"b\0")),
        body(field(b"a", b"1"), field(b"a", b"2")),
        body(part(b'name="a"', b"Yg==", b"Content-Transfer-Encoding: base64")),
        body(part(b'name="a"', b"b", b"Content-Disposition: form-data; name=b")),
        body(field(b"a", b"b")).replace(b"form-data", b"attachment"),
    ],
)
async def test_a_malformed_form_is_invalid(read, sent):
    with pytest.raises(Invalid):
        await read(sent)


async def test_a_client_that_leaves_leaves_no_file_behind(read):
    for sent in (b"", body(file(b"a", bytes(1000)))[:500], body(file(b"a", bytes(400_000)))[:390_000]):
        with pytest.raises(ClientGone):
            await read(Sender(sent, leaves=True))


FILENAMES = {
    b"../../etc/cron.d/x": "x",
    b"..\\..\\x.txt": "x.txt",
    b"/etc/passwd": "passwd",
    b"C:\\Users\\me\\plan.docx": "plan.docx",
    b"CON": "CON",
    b"x.PNG\0.html": "x.PNG.html",
    b"a\nSet-Cookie: b": "aSet-Cookie: b",
    b"tab\there": "tabhere",
    "\u202egpj.exe".encode(): "gpj.exe",
    "nai\u0308ve \U0001f468\u200d\U0001f469.txt".encode(): "na\xefve \U0001f468\u200d\U0001f469.txt",
    b"caf\xe9.txt": "caf\xe9.txt",
    b'a\\"b.txt': 'a"b.txt',
    b"a; filename*=UTF-8''evil.exe": "a; filename*=UTF-8''evil.exe",
    b"..": "file",
    b"   ": "file",
    b".htaccess": ".htaccess",
    b"a" * 5000 + b".pdf": "a" * 251 + ".pdf",
    b"a" * 255: "a" * 255,
}


async def test_a_filename_is_only_a_name(read):
    names = list(FILENAMES)
    found = []
    for name in names:
        async with await read(body(file(name, b"content"))) as form:
            found.append(form.files[0].filename)
    assert dict(zip(names, found, strict=True)) == FILENAMES


@pytest.mark.parametrize(
    ("parameters", "filename"),
    [
        (b"filename*=UTF-8''na%C3%AFve%20plan.txt", "na\xefve plan.txt"),
        (b"filename=\"plain.txt\"; filename*=utf-8'en'%e2%82%ac.txt", "\u20ac.txt"),
        (b"filename*=iso-8859-1''caf%E9.txt", "caf\xe9.txt"),
        (b"filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        (b"filename*=nonsense; filename=plain.txt", "plain.txt"),
        (b'filename="ends in a backslash\\"', "file"),
        (b"FILENAME=token.txt", "token.txt"),
    ],
)
async def test_an_extended_filename_is_understood(read, parameters, filename):
    async with await read(body(part(b"name=file; " + parameters, b"content"))) as form:
        assert form.files[0].filename == filename


async def test_a_file_input_left_empty_is_no_file(read):
    async with await read(body(file(b"", b""), field(b"a", b"b"))) as form:
        assert (form.files, form.fields) == ([], {"a": "b"})


@pytest.mark.parametrize(
    ("number", "refusal"),
    [(errno.ENOSPC, StorageFull), (errno.EDQUOT, StorageFull), (errno.EIO, Unavailable)],
)
async def test_a_disk_that_refuses_is_named_and_leaves_nothing(read, monkeypatch, number, refusal):
    def refuse(_descriptor, _data):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(uploads.os, "write", refuse)
    for size in (10, 400_000):
        with pytest.raises(refusal):
            await read(body(file(b"a", bytes(size))))


async def test_a_name_planted_in_the_spool_is_never_followed(read, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads.secrets, "token_hex", lambda _size: "guessed")
    target = tmp_path / "target"
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "guessed").symlink_to(target)
    with pytest.raises(Unavailable):
        await read(body(file(b"a", b"content")))
    assert not target.exists()
    (tmp_path / "spool" / "guessed").unlink()


async def test_a_cancelled_request_leaves_no_file_behind(read, monkeypatch):
    writing, go_on = threading.Event(), threading.Event()
    write = os.write

    def slow_write(descriptor, data):
        writing.set()
        go_on.wait(5)
        return write(descriptor, data)

    monkeypatch.setattr(uploads.os, "write", slow_write)
    reading = asyncio.create_task(read(body(file(b"a", bytes(400_000)))))
    await asyncio.to_thread(writing.wait, 5)
    threading.Timer(0.01, go_on.set).start()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
