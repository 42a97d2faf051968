"""Documents made byte by byte, so that a test can also make them wrong."""

import zipfile
import zlib
from io import BytesIO

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class Pdf:
    """A PDF of numbered objects: `add` returns the number, `written` the file with its table."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def add(self, content: bytes) -> int:
        self.objects.append(content)
        return len(self.objects)

    def add_stream(self, content: bytes, entries: bytes = b"") -> int:
        packed = zlib.compress(content, 9)
        head = b"<< %s /Filter /FlateDecode /Length %d >>" % (entries, len(packed))
        return self.add(head + b"\nstream\n" + packed + b"\nendstream")

    def written(self, trailer: bytes = b"", root: int = 1) -> bytes:
        out, places = b"%PDF-1.7\n", []
        for number, content in enumerate(self.objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        start = len(out)
        size = len(places) + 1
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        out += b"trailer << /Size %d /Root %d 0 R %s >>\n" % (size, root, trailer)
        return out + b"startxref\n%d\n%%%%EOF\n" % start


def draw_lines(lines: list[str]) -> bytes:
    """Return the drawing commands that write these lines below each other."""
    escaped = [line.encode("cp1252").translate(None, b"\\()") for line in lines]
    return b"BT /F1 11 Tf 14 TL 72 760 Td " + b" ".join(b"(%s) Tj T*" % line for line in escaped) + b" ET"


def pdf_of_streams(streams: list[bytes], trailer: bytes = b"") -> bytes:
    pdf = Pdf()
    pdf.add(b"<< /Type /Catalog /Pages 2 0 R >>")
    pdf.add(b"")
    font = pdf.add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    pages = []
    for stream in streams:
        content = pdf.add_stream(stream)
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
        page += b" /Resources << /Font << /F1 %d 0 R >> >> /Contents %d 0 R >>" % (font, content)
        pages.append(pdf.add(page))
    kids = b" ".join(b"%d 0 R" % page for page in pages)
    pdf.objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(pages), kids)
    return pdf.written(trailer)


def pdf(*pages: list[str]) -> bytes:
    return pdf_of_streams([draw_lines(lines) for lines in pages])


def archive(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", method) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return made.getvalue()


def relationships(*entries: tuple[str, str, str]) -> bytes:
    """Each entry: kind, target, and Internal or External."""
    lines = [
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}" TargetMode="{mode}"/>'
        for number, (kind, target, mode) in enumerate(entries)
    ]
    return f'<Relationships xmlns="{RELATIONSHIPS}">{"".join(lines)}</Relationships>'.encode()


def docx(body: str, *, before: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """A Word document with this XML as its body; `before` stands in front of the root element."""
    document = (
        f'<?xml version="1.0"?>{before}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    )
    files = {
        "_rels/.rels": relationships(("officeDocument", "word/document.xml", "Internal")),
        "word/document.xml": document.encode(),
    }
    return archive({**files, **(more or {})})


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
