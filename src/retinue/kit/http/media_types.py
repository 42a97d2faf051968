"""Detects the media type of a file from its content."""

import re
from pathlib import Path

HEAD_BYTES = 4096
TAIL_BYTES = 22 + 65535  # the end record of a zip archive and its longest comment

HTML = "text/html"
SVG = "image/svg+xml"
XML = "application/xml"
PHP = "application/x-httpd-php"
SCRIPT = "text/x-script"
EXECUTABLE = "application/x-executable"
ZIP = "application/zip"
PDF = "application/pdf"

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x7fELF", EXECUTABLE),
    (b"\xfe\xed\xfa\xce", EXECUTABLE),
    (b"\xfe\xed\xfa\xcf", EXECUTABLE),
    (b"\xce\xfa\xed\xfe", EXECUTABLE),
    (b"\xcf\xfa\xed\xfe", EXECUTABLE),
    (b"\xca\xfe\xba\xbe", EXECUTABLE),
    (b"\x00asm", EXECUTABLE),
    (b"PK\x05\x06", ZIP),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
)
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)
# Pictures (heic, avif) use the same container; unlisted brands stay unknown.
_MP4_BRANDS = {
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
    **dict.fromkeys((b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1"), "video/mp4"),
    **dict.fromkeys((b"M4V ", b"dash", b"MSNV"), "video/mp4"),
}
# Tags that identify a web page; prose and Markdown begin with others, such as <p> or <img>.
_PAGE_START = re.compile(
    rb"<(?:!doctype\s+html|(?:html|head|body|script|iframe|frameset|object|embed|applet|style|meta|link|base|title"
    rb"|form)[\s/>])"
)
_XML_START = re.compile(rb"<(?:\?xml[\s?]|!doctype\s|!entity\s|!\[cdata\[)")
_SVG_TAG = re.compile(rb"<(?:[a-z]+:)?svg[\s/>]")
_ANY_TAG = re.compile(rb"<[a-z!]")
_ACTIVE = re.compile(rb"<script[\s/>]|<iframe[\s/>]|\son[a-z]{3,20}\s*=|javascript:")
_PAGE_INSIDE = re.compile(rb"<(?:script|html|iframe|svg)[\s/>]|<!doctype\s+html")
_LEADING = re.compile(rb"(?:\s|<!--.*?-->)*", re.DOTALL)
_SHEBANG = re.compile(rb"#!\s*/\S")


def sniff(head: bytes, tail: bytes = b"") -> str | None:
    """Return the media type that the content proves, or None; executable types take precedence.

    A file that is two things counts as the more dangerous one: a picture, document or sound with a page in
    its head or an archive at its end is the page or the archive. WebM counts as audio, its use here.
    """
    head = head[:HEAD_BYTES]
    media_type = _signature(head)
    if media_type is None:
        return _text_type(_as_ascii(head))
    if media_type in {ZIP, EXECUTABLE}:
        return _archive_type(head) if media_type == ZIP else media_type
    if _PAGE_INSIDE.search(head.lower()):
        return HTML
    return ZIP if _ends_as_archive(tail) else media_type


def sniff_file(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return sniff(head, file.read(TAIL_BYTES))


def _signature(head: bytes) -> str | None:
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head.startswith(b"PK\x03\x04"):
        return ZIP
    # A Windows program: a text may begin with these letters, but has no NUL among its first bytes.
    if head.startswith(b"MZ") and b"\0" in head[:64]:
        return EXECUTABLE
    return "audio/mpeg" if _is_mp3_frame(head) else _container_type(head)


def _container_type(head: bytes) -> str | None:
    """Return the type of a container format, which names its content after the signature."""
    if head.startswith(b"RIFF"):
        return {b"WAVE": "audio/wav", b"WEBP": "image/webp"}.get(head[8:12])
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "audio/webm" if b"webm" in head[:64] else "video/x-matroska"
    if head[4:8] == b"ftyp":
        return _MP4_BRANDS.get(head[8:12])
    return None


def _is_mp3_frame(head: bytes) -> bool:
    """Check for eleven sync bits, layer III, and valid bit and sample rates."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2 or head[1] & 0x18 == 0x08:
        return False
    return head[2] & 0xF0 not in {0x00, 0xF0} and head[2] & 0x0C != 0x0C


def _archive_type(head: bytes) -> str:
    if b"mimetypeapplication/vnd.oasis.opendocument." in head[:128]:
        name = head[38:128].partition(b"PK")[0]
        return name.decode("ascii", "replace")
    if b"[Content_Types].xml" in head or b"_rels/" in head:
        for folder, media_type in _OFFICE:
            if folder in head:
                return media_type
    return ZIP


def _ends_as_archive(tail: bytes) -> bool:
    """Return whether there is a zip end record whose comment ends exactly at the end of the file."""
    record = tail.rfind(b"PK\x05\x06")
    if record < 0 or len(tail) < record + 22:
        return False
    return record + 22 + int.from_bytes(tail[record + 20 : record + 22], "little") == len(tail)


def _as_ascii(head: bytes) -> bytes:
    """Convert the text to one byte per character, because UTF-16 would hide tags from the patterns."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(encoding, "replace").encode("ascii", "replace")
    if head[:1] == b"<" and head[1:2] == b"\0":
        return head.decode("utf-16-le", "replace").encode("ascii", "replace")
    if head[:2] == b"\0<":
        return head.decode("utf-16-be", "replace").encode("ascii", "replace")
    return head.removeprefix(b"\xef\xbb\xbf")


def _text_type(text: bytes) -> str | None:
    if _SHEBANG.match(text):
        return SCRIPT
    lowered = text.lower()
    leading = _LEADING.match(lowered)
    lowered = lowered[leading.end() if leading else 0 :]
    if lowered.startswith((b"<?php", b"<?=")):
        return PHP
    if lowered.startswith(b"<"):
        return _markup_type(lowered)
    # Readers accept a late PDF header, so a script may precede it.
    return SCRIPT if b"%pdf-" in lowered[:1024] and lowered.startswith((b"/*", b"//")) else None


def _markup_type(lowered: bytes) -> str | None:
    if _PAGE_START.match(lowered):
        return HTML
    if _XML_START.match(lowered) or _SVG_TAG.match(lowered):
        if _SVG_TAG.search(lowered):
            return SVG
        return HTML if _PAGE_INSIDE.search(lowered) else XML
    # Markdown may begin with a tag and mention scripts later on.
    return HTML if _ANY_TAG.match(lowered) and _ACTIVE.search(lowered, 0, 512) else None
