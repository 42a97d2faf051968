"""Files made to harm end in a clear refusal or bounded text; the server stays as it was."""

import asyncio
import random
import socket
import threading
import zipfile
import zlib
from io import BytesIO

import pytest

from retinue.adapters import documents
from retinue.adapters.documents import DocumentError, UnreadableDocument
from retinue.kit.fair_queue import NOBODY
from tests.adapters import document_files as files
from tests.adapters.own_process import children, resident
from tests.sampling import sample_cases

MEBIBYTE = 1024 * 1024
GROWTH_BYTES = 32 * MEBIBYTE


@pytest.fixture
def parse(tmp_path):
    """Reads the file; afterwards nothing is left of it and an ordinary file is read as ever."""
    path, ordinary = tmp_path / "upload", tmp_path / "ordinary"
    ordinary.write_text("# Fees\n\nTwenty a day.")

    async def run(content: bytes, filename: str):
        await asyncio.to_thread(path.write_bytes, content)
        del content
        before, running = resident(), children()
        try:
            return await documents.parse(path, filename=filename, requester=NOBODY)
        finally:
            assert children() == running
            assert resident() - before < GROWTH_BYTES
            following = await documents.parse(ordinary, filename="fees.md", requester=NOBODY)
            assert [piece.text for piece in following.pieces] == ["Twenty a day."]

    return run


async def expect_refusal(reading) -> DocumentError:
    with pytest.raises(DocumentError) as refusal:
        await reading
    assert len(refusal.value.message) > 20
    return refusal.value


class Canary:
    """A port of this machine that counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.visitors = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            self.visitors += 1
            visitor.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def canary():
    made = Canary()
    yield made
    made.close()


def packed_bomb(unpacked: int) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("0.dll", "w") as entry:
        for _ in range(unpacked // MEBIBYTE):
            entry.write(bytes(MEBIBYTE))
    return made.getvalue()


async def test_zips_inside_zips_are_not_unpacked(parse):
    inner = packed_bomb(64 * MEBIBYTE)
    for _ in range(4):
        inner = files.archive({f"lib {number}.zip": inner for number in range(16)})
    error = await expect_refusal(parse(inner, "42.docx"))
    assert (error.code, error.message) == ("parse_error", "The file is an archive, but not a Word document.")


@pytest.mark.parametrize("part", ["word/document.xml", "word/media/image1.png", "word/styles.xml"])
async def test_a_part_that_unpacks_to_far_more_is_refused_before_it_is_unpacked(parse, part):
    content = files.docx(files.paragraph("hello"), more={part: bytes(40 * MEBIBYTE)})
    assert len(content) < 200_000
    error = await expect_refusal(parse(content, "bomb.docx"))
    assert (error.code, error.message) == (
        "too_large",
        "The document unpacks to far more data than is allowed.",
    )


async def test_an_archive_that_lies_about_its_sizes_gives_no_more_than_it_said(parse):
    text = files.paragraph("hello") + " " * 50 * MEBIBYTE
    content = bytearray(files.docx(text))
    directory = content.rfind(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (1000).to_bytes(4, "little")
    error = await expect_refusal(parse(bytes(content), "liar.docx"))
    assert error.code == "parse_error"


async def test_many_small_parts_are_refused(parse):
    more = {f"word/media/{number}.txt": b"x" for number in range(2001)}
    error = await expect_refusal(parse(files.docx(files.paragraph("hello"), more=more), "many.docx"))
    assert (error.code, "2,000" in error.message) == ("too_large", True)


async def test_an_external_entity_is_not_read(parse, tmp_path, canary):
    (tmp_path / "secret").write_text("CANARY")
    for address in (f"file://{tmp_path}/secret", "file:///etc/passwd", f"http://127.0.0.1:{canary.port}/"):
        before = f'<!DOCTYPE w:document [<!ENTITY xxe SYSTEM "{address}">]>'
        error = await expect_refusal(parse(files.docx(files.paragraph("&xxe;"), before=before), "xxe.docx"))
        assert (error.code, "entities" in error.message) == ("parse_error", True)
    assert canary.visitors == 0


async def test_entities_that_multiply_are_not_expanded(parse):
    lines = [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)]
    before = f'<!DOCTYPE lolz [<!ENTITY l0 "lol">{"".join(lines)}]>'
    error = await expect_refusal(parse(files.docx(files.paragraph("&l9;"), before=before), "laughs.docx"))
    assert error.code == "parse_error"


async def test_entities_in_a_part_beside_the_text_are_refused_as_well(parse):
    bad = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'
    for part in ("_rels/.rels", "word/styles.xml", "word/footnotes.xml"):
        error = await expect_refusal(parse(files.docx(files.paragraph("hello"), more={part: bad}), "a.docx"))
        assert error.code == "parse_error"


async def test_nothing_a_word_document_refers_to_is_fetched(parse, canary):
    address = f"http://127.0.0.1:{canary.port}/"
    more = {
        "word/_rels/settings.xml.rels": files.relationships(("attachedTemplate", address, "External")),
        "word/_rels/document.xml.rels": files.relationships(
            ("image", f"{address}pixel.png", "External"), ("oleObject", f"{address}x.ole", "External")
        ),
        "word/settings.xml": f'<w:settings xmlns:w="{files.WORD}"/>'.encode(),
    }
    parsed = await parse(files.docx(files.paragraph("hello"), more=more), "template.docx")
    assert [piece.text for piece in parsed.pieces] == ["hello"]
    elsewhere = {"_rels/.rels": files.relationships(("officeDocument", f"{address}d.xml", "External"))}
    assert (await parse(files.docx(files.paragraph("hello"), more=elsewhere), "a.docx")).pieces
    outside = {"_rels/.rels": files.relationships(("officeDocument", "../../../../etc/passwd", "Internal"))}
    assert (await expect_refusal(parse(files.docx("", more=outside), "a.docx"))).code == "parse_error"
    assert canary.visitors == 0


async def test_xml_nested_a_hundred_thousand_deep_is_read_or_refused(parse):
    for opening, closing in (("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"), ("<w:sdt>", "</w:sdt>")):
        body = opening * 100_000 + files.paragraph("inside") + closing * 100_000
        # What cannot be packed well, so that the ratio does not refuse it first.
        noise = random.Random(1).randbytes(20_000).hex()
        parsed = await parse(files.docx(f"{body}<w:x y='{noise}'/>"), "deep.docx")
        assert [piece.text for piece in parsed.pieces] == ["inside"]


@pytest.mark.parametrize("stream", [b" ", b"(a) Tj ", b"q "])
async def test_a_pdf_whose_page_unpacks_a_thousandfold_is_bounded(parse, stream):
    blown_up = b"BT /F1 11 Tf 72 760 Td " + stream * (100 * MEBIBYTE // len(stream)) + b" ET"
    content = files.pdf_of_streams([blown_up])
    assert len(content) < 2 * MEBIBYTE
    del blown_up
    error = await expect_refusal(parse(content, "bomb.pdf"))
    assert error.code in {"parse_error", "too_large", "empty_document"}


async def test_filters_stacked_on_each_other_are_bounded(parse):
    packed = bytes(100 * MEBIBYTE)
    for _ in range(2):
        packed = zlib.compress(packed, 9)
    pdf = files.Pdf()
    pdf.add(b"<< /Type /Catalog /Pages 2 0 R >>")
    pdf.add(b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>")
    pdf.add(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>")
    filters = b"/Filter [/FlateDecode /FlateDecode] /Length %d" % len(packed)
    pdf.add(b"<< %s >>\nstream\n%s\nendstream" % (filters, packed))
    assert (await expect_refusal(parse(pdf.written(), "stacked.pdf"))).code


async def test_a_pdf_whose_tables_point_at_themselves_ends(parse):
    plain = files.pdf(["hello"])
    start = plain.rindex(b"xref\n0")
    looping = plain.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %010d" % start)
    parsed = await parse(looping, "loop.pdf")
    assert [piece.text for piece in parsed.pieces] == ["hello"]


@pytest.mark.campaign
async def test_a_pdf_whose_pages_contain_themselves_ends(parse):
    pdf = files.Pdf()
    pdf.add(b"<< /Type /Catalog /Pages 2 0 R >>")
    pdf.add(b"<< /Type /Pages /Count 1000000 /Kids [2 0 R 2 0 R 3 0 R] >>")
    pdf.add(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R >>")
    error = await expect_refusal(parse(pdf.written(), "pages.pdf"))
    assert error.code in {"parse_error", "empty_document", "too_large"}


@pytest.mark.campaign
async def test_a_million_columns_become_a_thousand(parse):
    wide = ",".join(f"c{number}" for number in range(1_000_000))
    parsed = await parse(f"{wide}\n{wide}\n".encode(), "wide.csv")
    assert parsed.truncated
    assert sum(piece.text.count(": c") for piece in parsed.pieces) == 1000


@pytest.mark.campaign
async def test_ten_million_empty_columns_are_no_text(parse):
    parsed = await parse(b"name" + b"," * 10_000_000 + b"\nlamp" + b"," * 10_000_000 + b"\n", "empty.csv")
    assert ([piece.text for piece in parsed.pieces], parsed.truncated) == (["name: lamp"], False)


async def test_a_cell_of_a_hundred_megabytes_is_refused(parse):
    error = await expect_refusal(parse(b'a,b\n1,"' + b"x" * 100 * MEBIBYTE + b'"\n', "huge.csv"))
    assert (error.code, "32 MB" in error.message) == ("too_large", True)
    error = await expect_refusal(parse(b'a,b\n1,"' + b"x" * 25 * MEBIBYTE + b'"\n', "large.csv"))
    assert (error.code, "cell" in error.message) == ("too_large", True)


async def test_a_long_cell_is_cut_and_a_quote_that_never_ends_is_named(parse):
    parsed = await parse(b"a,b\n1," + b"long words " * 10_000 + b"\n2,next\n", "long.csv")
    assert parsed.truncated
    assert sum(len(piece.text) for piece in parsed.pieces) < 25_000
    assert parsed.pieces[-1].text.endswith("b: next")
    error = await expect_refusal(parse(b'a,b\n1,"open\n' + b"2,word\n" * 300_000, "quote.csv"))
    assert "quotation mark" in error.message


MARKS = [">", "> ", "[", "- ", "# ", "*", "`", "~~~\n", "![", "<a ", "\n---\n", "a\n=\n"]


NESTED = [*((mark, "deep.md") for mark in MARKS), (">", "deep.txt"), ("[", "deep.csv")]
NESTED_IN_SHORT = [(">", "deep.md"), ("[", "deep.md"), ("*", "deep.md"), ("[", "deep.csv")]


@pytest.mark.parametrize(("mark", "filename"), sample_cases(NESTED, keep=NESTED_IN_SHORT))
async def test_a_hundred_thousand_nested_marks_are_only_text(parse, mark, filename):
    parsed = await parse(b"begin\n" + mark.encode() * 100_000 + b" end\n", filename)
    assert sum(len(piece.text) for piece in parsed.pieces) <= 2 * len(mark) * 100_000
    assert max(len(piece.text) for piece in parsed.pieces) <= 1200


async def test_utf_7_is_refused_or_left_as_the_letters_it_is(parse):
    hidden = b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-"
    for mark in (b"+/v8-", b"+/v9", b"+/v+", b"+/v/"):
        assert "UTF-7" in (await expect_refusal(parse(mark + hidden, "a.txt"))).message
    for ending in (".txt", ".md"):
        parsed = await parse(hidden, f"a{ending}")
        assert [piece.text for piece in parsed.pieces] == [hidden.decode()]
    assert "<script>" not in (await parse(hidden + b" \xe9\xe8", "a.txt")).pieces[0].text


async def test_a_tower_of_accents_is_cut_down(parse):
    parsed = await parse(("e" + "\u0301\u0327" * 400_000).encode(), "zalgo.txt")
    assert sum(len(piece.text) for piece in parsed.pieces) < 1000


@pytest.mark.campaign
async def test_more_passages_than_a_document_may_have_are_refused(parse):
    sections = "".join(f"# {number}\n\nx\n" for number in range(40_001))
    error = await expect_refusal(parse(sections.encode(), "many.md"))
    assert (error.code, "40,000" in error.message) == ("too_large", True)


@pytest.mark.parametrize("filename", ["x.pdf", "x.docx", "x.txt", "x.md", "x.csv"])
@pytest.mark.parametrize(
    "content",
    [
        files.archive({"a.txt": b"hello"}),
        files.pdf(["hello"]),
        b"\x89PNG\r\n\x1a\n" + bytes(64),
        b"\x7fELF" + bytes(64),
        b"MZ" + bytes(64),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
        b"<!doctype html><script>alert(1)</script>",
    ],
    ids=["zip", "pdf", "png", "elf", "exe", "ole", "html"],
)
async def test_the_content_decides_and_not_the_name(parse, content, filename):
    is_pdf = content.startswith(b"%PDF-") and filename == "x.pdf"
    is_text = content.startswith(b"<!doctype") and filename in {"x.txt", "x.md", "x.csv"}
    if is_pdf or is_text:
        assert (await parse(content, filename)).pieces
    else:
        assert (await expect_refusal(parse(content, filename))).code == "parse_error"


async def test_a_pdf_that_is_a_zip_or_a_page_as_well_is_refused(parse):
    plain = files.pdf(["hello"])
    assert (await expect_refusal(parse(plain + files.archive({"a": b"b"}), "both.pdf"))).code == "parse_error"
    page = b"%PDF-1.4\n<script>alert(1)</script>\n" + plain
    assert (await expect_refusal(parse(page, "page.pdf"))).code == "parse_error"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["pdf", "docx"])
async def test_a_document_with_bent_bytes_gives_text_or_a_refusal(parse, kind, seed):
    whole = files.pdf(["hello"] * 20, ["world"] * 20)
    if kind == "docx":
        whole = files.docx("".join(files.paragraph(f"line {number}") for number in range(200)))
    chosen = random.Random(seed)
    bent = bytearray(whole)
    for _ in range(1 + 3 * seed):
        bent[chosen.randrange(len(bent))] = chosen.randrange(256)
    cut = bytes(bent[: chosen.randrange(len(bent) // 2, len(bent))]) if seed % 2 else bytes(bent)
    try:
        parsed = await parse(cut, f"bent.{kind}")
    except DocumentError as refusal:
        assert refusal.code in {"parse_error", "empty_document", "too_large"}  # noqa: PT017 - both ends are right
    else:
        assert sum(len(piece.text) for piece in parsed.pieces) <= 4 * len(whole)


async def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic links"):
        await documents.parse(tmp_path / "link", filename="a.txt", requester=NOBODY)


async def test_a_word_document_protected_by_a_password_is_named_as_such(parse):
    error = await expect_refusal(parse(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4096), "locked.docx"))
    assert isinstance(error, UnreadableDocument)
    assert "password" in error.message
