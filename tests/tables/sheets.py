"""Files to import: workbooks written by hand, so that they can also be wrong."""

import io
import zipfile
from typing import Any

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORKBOOK = (
    f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets><sheet name="S" sheetId="1" r:id="rId7"/></sheets>'
    "</workbook>"
)
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
LINKS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId7" Type="{_REL}/worksheet" '
    'Target="worksheets/first.xml"/></Relationships>'
)
ROOT_LINKS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_REL}/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>'
)
_DEFAULT = '<Default Extension="xml" ContentType="application/xml"/>'
CONTENT_TYPES = f'<Types xmlns="{_PACKAGE}/content-types">{_DEFAULT}</Types>'
STRINGS = (
    f'<sst xmlns="{_MAIN}"><si><t>name</t></si>'
    "<si><r><t>A</t></r><r><t>da</t></r><rPh><t>x</t></rPh></si></sst>"
)
STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/></cellXfs></styleSheet>'
)
ROWS = (
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Age</t></is></c>'
    '<c r="C1" t="str"><v>born</v></c><c r="D1" t="str"><v>active</v></c>'
    '<c r="E1" t="str"><v>balance</v></c></row>'
    '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>36</v></c><c r="C2" s="1"><v>36526</v></c>'
    '<c r="D2" t="b"><v>0</v></c><c r="E2"><f>1+1</f><v>2.5</v></c></row>'
    '<row r="3"/><row r="4"><c r="A4" t="inlineStr"><is><t>Bob</t></is></c>'
    '<c r="E4" t="e"><v>#DIV/0!</v></c></row>'
)


def sheet(rows: str) -> str:
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def workbook(**changed: Any) -> bytes:
    """A workbook; `changed` are parts by short names."""
    parts = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": ROOT_LINKS,
        "xl/workbook.xml": changed.get("book", WORKBOOK),
        "xl/_rels/workbook.xml.rels": changed.get("links", LINKS),
        "xl/sharedStrings.xml": changed.get("strings", STRINGS),
        "xl/styles.xml": changed.get("styles", STYLES),
        "xl/worksheets/first.xml": changed.get("sheet", sheet(changed.get("rows", ROWS))),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            if text is not None:
                archive.writestr(name, text)
    return content.getvalue()


BOMB = sheet(f'<row><c t="inlineStr"><is><t>{"A" * 12_000_000}</t></is></c></row>')
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + sheet(
    '<row><c t="inlineStr"><is><t>&b;</t></is></c></row>'
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + sheet("<row><c><v>&a;</v></c></row>")

HOSTILE: list[tuple[str, bytes, str]] = [
    ("a.xlsx", b"not a workbook", "parse_error"),
    ("a.xlsx", workbook(sheet=None), "parse_error"),
    ("a.xlsx", workbook(rows=""), "parse_error"),
    ("a.xlsx", workbook(sheet="<a><b>"), "parse_error"),
    ("a.xlsx", workbook(sheet=BOMB), "too_large"),
    ("a.xlsx", workbook(sheet=ENTITIES), "parse_error"),
    ("a.xlsx", workbook(sheet=OUTSIDE), "parse_error"),
    ("a.xlsx", workbook(links=LINKS.replace("worksheets/first", "../../etc/passwd")), "parse_error"),
    ("a.xlsx", workbook(rows='<row><c r="XFD1" t="str"><v>x</v></c></row>'), "too_large"),
    ("a.xlsx", workbook(sheet="<d>" * 500 + "</d>" * 500), "parse_error"),
    ("a.csv", b"", "parse_error"),
    ("a.csv", b'name\n"' + b"x" * 2_500_000, "too_large"),
    ("a.csv", b"nobody,else\n1,2\n", "mapping_error"),
    ("a.csv", b"name" + b",x" * 2000 + b"\n", "too_large"),
    ("a.json", b"[1]", "parse_error"),
    ("a.json", b'[{"name": 1}', "parse_error"),
    ("a.json", b'[{"name": NaN}]', "parse_error"),
    ("a.json", b'[{"name": "x"}] tail', "parse_error"),
    ("a.json", b'[{"name": ' + b"[" * 100_000, "too_large"),
    ("a.json", b'[{"name": "' + b"x" * 5_000_000 + b'"}]', "too_large"),
    ("a.json", b"\xff\xfe\x00", "parse_error"),
]
