"""Ordinary documents give their text, cut where a reader would pause, with the page or heading it is from."""

import asyncio
import random
from io import BytesIO

import docx as word
import pytest

from retinue.adapters import documents
from retinue.adapters.documents import MIME_TYPES_BY_EXTENSION, EmptyDocument, UnreadableDocument
from retinue.kit.fair_queue import NOBODY
from tests.adapters import document_files as files

WORDS = ["river", "market", "harbour", "lantern", "copper", "ledger", "winter", "signal", "bridge", "engine"]


@pytest.fixture
def parse(tmp_path):
    async def run(content: bytes | str, filename: str, **options):
        path = tmp_path / "upload"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return await documents.parse(path, filename=filename, requester=NOBODY, **options)

    return run


def prose(sentences: int, seed: int = 1) -> str:
    chosen = random.Random(seed)
    made = [
        " ".join(chosen.choices(WORDS, k=chosen.randint(6, 16))).capitalize() + "." for _ in range(sentences)
    ]
    paragraphs = [" ".join(made[at : at + 5]) for at in range(0, sentences, 5)]
    return "\n\n".join(paragraphs)


def save_document(document) -> bytes:
    content = BytesIO()
    document.save(content)
    return content.getvalue()


def texts(parsed) -> list[str]:
    return [piece.text for piece in parsed.pieces]


async def test_a_pdf_gives_each_page_its_number(parse):
    parsed = await parse(files.pdf(["The first page."], [], ["Größe und Maß, page three."]), "Report.PDF")
    assert [(piece.text, piece.page) for piece in parsed.pieces] == [
        ("The first page.", 1),
        ("Größe und Maß, page three.", 3),
    ]
    assert (parsed.mime_type, parsed.pages, parsed.truncated) == ("application/pdf", 3, False)


async def test_lines_of_a_pdf_that_fill_the_page_are_one_paragraph_and_short_ones_stay(parse):
    full = [
        "The committee met in the old harbour office and decided that",
        "every ship pays its fee on the day of its arrival, not later",
    ]
    parsed = await parse(files.pdf(["Harbour fees", *full, "", "- ships: 20", "- boats: 5"]), "fees.pdf")
    assert texts(parsed) == [f"Harbour fees\n{' '.join(full)}\n- ships: 20\n- boats: 5"]


async def test_a_word_of_a_pdf_that_was_hyphenated_is_whole_again(parse):
    lines = ["The committee spoke about an exam-", "ple of the new harbour fee policy."]
    whole = "The committee spoke about an example of the new harbour fee policy."
    assert texts(await parse(files.pdf(lines), "fees.pdf")) == [whole]


async def test_a_pdf_without_text_is_empty_and_says_what_to_do(parse):
    with pytest.raises(EmptyDocument, match="scan") as refusal:
        await parse(files.pdf([], []), "scan.pdf")
    assert refusal.value.code == "empty_document"


async def test_a_pdf_with_a_password_is_refused_clearly(parse):
    protected = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]"
    content = files.pdf_of_streams([files.draw_lines(["secret"])], protected % (b"11" * 32, b"22" * 32))
    with pytest.raises(UnreadableDocument, match="password"):
        await parse(content, "locked.pdf")


async def test_a_word_document_keeps_its_order_of_headings_paragraphs_lists_and_tables(parse):
    document = word.Document()
    document.add_heading("Handbook", 0)
    document.add_paragraph("What everyone should know.")
    document.add_heading("Refunds", 1)
    document.add_paragraph("Within 30 days.")
    document.add_paragraph("keep the receipt", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Country", "Days", "Norway", "60"], strict=True):
        cell.text = text
    document.add_paragraph("After the table.")
    document.add_heading("In Europe", 2)
    document.add_paragraph("The law gives 14 days.")
    document.add_heading("Contact", 1)
    parsed = await parse(save_document(document), "handbook.docx")
    assert [(piece.heading, piece.text) for piece in parsed.pieces] == [
        ("Handbook", "What everyone should know."),
        (
            "Handbook > Refunds",
            "Within 30 days.\n\n- keep the receipt\n\nCountry | Days\nNorway | 60\n\nAfter the table.",
        ),
        ("Handbook > Refunds > In Europe", "The law gives 14 days."),
        ("Handbook", "Contact"),
    ]
    assert {piece.page for piece in parsed.pieces} == {None}
    assert parsed.mime_type == MIME_TYPES_BY_EXTENSION[".docx"]


async def test_of_a_word_document_only_the_text_as_it_stands_is_read(parse):
    body = (
        files.paragraph("kept", "<w:tabs><w:tab w:val='left'/></w:tabs>")
        + "<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        + "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        + "<w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t>"
        + "<w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert texts(await parse(files.docx(body), "a.docx")) == ["kept\n\none\ttwo\nthree"]


async def test_a_text_box_is_read_once_and_footnotes_come_last(parse):
    box = (
        '<w:p xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:r><w:t>Around.</w:t>'
        "<mc:AlternateContent><mc:Choice Requires='wps'><w:txbxContent>INNER</w:txbxContent></mc:Choice>"
        "<mc:Fallback><w:txbxContent>INNER</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    ).replace("INNER", files.paragraph("Inside."))
    note = f"<w:footnote>{files.paragraph('A note.')}</w:footnote>"
    notes = f'<w:footnotes xmlns:w="{files.WORD}">{note}</w:footnotes>'
    content = files.docx(box, more={"word/footnotes.xml": notes.encode()})
    assert texts(await parse(content, "box.docx")) == ["Inside.\n\nAround.\n\nA note."]


async def test_headings_of_a_word_document_in_another_language_are_found_by_their_style(parse):
    styles = (
        f'<w:styles xmlns:w="{files.WORD}">'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Eigene"><w:name w:val="Eigene"/><w:basedOn w:val="berschrift1"/></w:style>'
        '<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style></w:styles>'
    )
    body = (
        "".join(
            files.paragraph(text, f"<w:pStyle w:val='{style}'/>")
            for text, style in [
                ("Inhalt", "V1"),
                ("Eins", "berschrift1"),
                ("Text.", "Standard"),
                ("Zwei", "Eigene"),
            ]
        )
        + files.paragraph("Drei", "<w:outlineLvl w:val='1'/>")
        + files.paragraph("Ende.")
    )
    parsed = await parse(files.docx(body, more={"word/styles.xml": styles.encode()}), "deutsch.docx")
    assert [(piece.heading, piece.text) for piece in parsed.pieces] == [
        ("Eins", "Text."),
        ("Zwei > Drei", "Ende."),
    ]


async def test_markdown_is_cut_at_its_headings_and_not_rendered(parse):
    text = (
        "---\ntitle: Guide\n---\nIntro with **bold**.\n\n# Install #\n\n"
        "Run it.\n\n```sh\n# not a heading\n```\n\n"
        "Linux\n-----\n- one\n- two\n\n---\n\n## Empty\n\n# Use\n"
    )
    parsed = await parse(text, "guide.md")
    assert [(piece.heading, piece.text) for piece in parsed.pieces] == [
        (None, "title: Guide\nIntro with **bold**."),
        ("Install", "Run it.\n\n```sh\n# not a heading\n```"),
        ("Install > Linux", "- one\n- two\n\n---"),
        ("Install", "Empty"),
        (None, "Use"),
    ]
    assert parsed.mime_type == (await parse(text, "guide.markdown")).mime_type == "text/markdown"


async def test_the_text_that_is_embedded_begins_with_its_heading(parse):
    piece = (await parse("# Fees\n\nTwenty a day.", "fees.md")).pieces[0]
    assert piece.embedded == "Fees\n\nTwenty a day."
    assert (await parse("Twenty a day.", "fees.txt")).pieces[0].embedded == "Twenty a day."


async def test_every_row_of_a_csv_names_its_columns(parse):
    table = 'sku,name,,note\nA-1,Lamp,x,\nB-2,"Desk, oak",,"two\nlines"\n\nC-3,Chair,,,extra\n'
    parsed = await parse(table, "stock.csv")
    rows = [
        "sku: A-1\nname: Lamp\ncolumn 3: x",
        "sku: B-2\nname: Desk, oak\nnote: two\nlines",
        "sku: C-3\nname: Chair\ncolumn 5: extra",
    ]
    assert texts(parsed) == ["\n\n".join(rows)]
    assert not parsed.truncated


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
async def test_the_delimiter_of_a_csv_is_found(parse, delimiter):
    rows = [
        ["name", "price", "said"],
        ["Lamp", "1,5" if delimiter != "," else "1.5", "a|b" if delimiter != "|" else "ab"],
    ]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    assert texts(await parse(text, "a.csv")) == ["\n".join(f"{a}: {b}" for a, b in zip(*rows, strict=True))]
    assert texts(await parse(f"sep=~\na~b\n1{delimiter}~2\n", "a.csv")) == [f"a: 1{delimiter.strip()}\nb: 2"]


async def test_rows_are_never_cut_unless_one_alone_is_too_long(parse):
    rows = [f"SKU-{number},{prose(2, number)!r}" for number in range(200)]
    parsed = await parse("sku,text\n" + "\n".join(rows), "many.csv")
    assert len(parsed.pieces) > 10
    assert all(text.startswith("sku: SKU-") and len(text) <= 1200 for text in texts(parsed))
    assert sum(text.count("sku: SKU-") for text in texts(parsed)) == 200
    long = await parse(f'sku,text\nSKU-7,"{prose(40)}"\n', "long.csv")
    assert len(long.pieces) > 2
    assert {piece.heading for piece in long.pieces} == {"sku: SKU-7"}


async def test_long_text_is_cut_at_sentences_and_nothing_is_lost(parse):
    text = prose(400)
    parsed = await parse(text, "long.txt")
    assert 900 < sum(map(len, texts(parsed))) / len(parsed.pieces) <= 1200
    assert max(map(len, texts(parsed))) <= 1200
    assert all(text.endswith(".") for text in texts(parsed))
    assert [piece.position for piece in parsed.pieces] == list(range(len(parsed.pieces)))
    for sentence in text.replace("\n\n", " ").split(". "):
        assert any(sentence.strip(".") in piece for piece in texts(parsed))


async def test_the_size_of_the_pieces_can_be_chosen(parse):
    parsed = await parse(prose(60), "long.txt", size=300, overlap=0)
    assert max(map(len, texts(parsed))) <= 300
    assert sum(map(len, texts(parsed))) <= len(prose(60))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Grüße, naïve café — 日本語 😀"),
        ("utf-8-sig", "Grüße aus Zürich"),
        ("utf-16", "Grüße aus Zürich, 日本語 😀"),
        ("utf-16-le", "Grüße aus Zürich an alle"),
        ("utf-16-be", "Grüße aus Zürich an alle"),
        ("utf-32", "Grüße aus Zürich"),
        ("cp1252", "Über die Größe der Äpfel schweigt der Gärtner „immer“, für 5 €."),
        ("cp1251", "Скажите, пожалуйста, где находится библиотека? Она стоит около реки, недалеко от рынка."),
        ("shift_jis", "図書館はどこにありますか。川のそばにあります。市場から遠くありません。"),
        ("gb18030", "图书馆在河边。离市场不远。请问现在几点了。我们明天再来。它今天关门。"),
    ],
)
async def test_a_text_is_read_in_the_encoding_it_is_in(parse, encoding, text):
    assert texts(await parse(text.encode(encoding), "a.txt")) == [text]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
async def test_markdown_and_tables_are_read_in_their_encoding_too(parse, encoding):
    text = "Über die Größe der Äpfel schweigt der Gärtner."
    assert texts(await parse(f"# Äpfel\n\n{text}\n".encode(encoding), "a.md")) == [text]
    assert texts(await parse(f"Äpfel\n{text}\n".encode(encoding), "a.csv")) == [f"Äpfel: {text}"]


async def test_invisible_characters_go_and_letters_are_composed(parse):
    text = "a\x00b\x07c\u00add\ufeff e\u0301\r\nnew\rline\x0cpage   \u2028end\x9f"
    assert texts(await parse(text, "odd.txt")) == ["abcd \u00e9\nnew\nline\npage  \nend"]


async def test_indentation_stays_and_other_gaps_shrink(parse):
    code = "```python\r\nif a:\r\n        b = 1\r\n```\r\n\r\n\r\n\r\nName      Age\r\n"
    expected = "```python\nif a:\n        b = 1\n```\n\nName  Age"
    assert texts(await parse(code, "code.md")) == texts(await parse(code, "code.txt")) == [expected]


@pytest.mark.parametrize("content", [b"", b"  \n\t\n ", b"\xef\xbb\xbf", b"\x00"])
@pytest.mark.parametrize("filename", ["a.txt", "a.md", "a.csv"])
async def test_a_text_with_nothing_in_it_is_empty(parse, content, filename):
    with pytest.raises(EmptyDocument):
        await parse(content, filename)


async def test_bytes_that_are_no_text_are_refused(parse):
    with pytest.raises(UnreadableDocument, match="not text"):
        await parse(random.Random(1).randbytes(5000), "noise.txt")


async def test_a_word_document_with_nothing_in_it_is_empty(parse):
    with pytest.raises(EmptyDocument):
        await parse(save_document(word.Document()), "empty.docx")


@pytest.mark.parametrize("filename", ["a.exe", "a", "a.pdf.html", ".pdf", "a.doc", "a.docx\0.html"])
async def test_other_endings_are_not_read(parse, filename):
    with pytest.raises(UnreadableDocument, match=r"Use \.pdf"):
        await parse(b"text", filename)


async def test_prose_that_begins_like_a_picture_or_holds_markup_is_still_text(parse):
    for text in (
        "ID3 tags, explained.",
        "<html><body>Hello</body></html>",
        "#!/bin/sh\necho hello",
        "Rar!\x1a\x07 is a mark.",
    ):
        assert texts(await parse(text, "a.txt")) == [text.replace("\x1a\x07", "")]


async def test_several_documents_at_once_all_arrive(tmp_path):
    for number in range(5):
        (tmp_path / str(number)).write_text(f"document {number}")
    found = await asyncio.gather(
        *(documents.parse(tmp_path / str(number), filename="a.txt", requester=NOBODY) for number in range(5))
    )
    assert [texts(parsed) for parsed in found] == [[f"document {number}"] for number in range(5)]
