"""Which media type a file is recorded with: by its bytes where they tell, else by its name.

An active type, such as a page's, is never recorded: what has one is bytes without a type. What
its bytes prove to be something else than its name says is refused.
"""

from pathlib import PurePosixPath

from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http import sniffing

ANYTHING = "application/octet-stream"

_OFFICE = "application/vnd.openxmlformats-officedocument."
_BY_ENDING = {
    **dict.fromkeys((".txt", ".text", ".log"), "text/plain"),
    **dict.fromkeys((".md", ".markdown"), "text/markdown"),
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".png": "image/png",
    **dict.fromkeys((".jpg", ".jpeg"), "image/jpeg"),
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".heic": "image/heic",
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}wordprocessingml.document",
    ".xlsx": f"{_OFFICE}spreadsheetml.sheet",
    ".pptx": f"{_OFFICE}presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".webm": "audio/webm",
    ".mp4": "video/mp4",
    ".mkv": "video/x-matroska",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".7z": "application/x-7z-compressed",
    ".rar": "application/vnd.rar",
    ".xz": "application/x-xz",
}
# Stored for whoever runs or shows them elsewhere: here they are bytes without a type.
_ACTIVE_ENDINGS = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), sniffing.HTML),
    ".svg": sniffing.SVG,
    **dict.fromkeys((".xml", ".xsl", ".xsd", ".rss", ".atom"), sniffing.XML),
    **dict.fromkeys((".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl"), sniffing.SCRIPT),
}
_NEVER_STORED = {sniffing.EXECUTABLE, sniffing.PHP}
_ACTIVE = {sniffing.HTML, sniffing.SVG, sniffing.XML, sniffing.SCRIPT, *_NEVER_STORED}
# A text that begins like markup or with a shebang may be source code that mentions it.
_MARKUP = {sniffing.HTML, sniffing.SVG, sniffing.XML}


def recorded_type(filename: str, sniffed: str | None) -> str:
    """`sniffed` is what `sniffing.sniff_file` says of the content."""
    ending = PurePosixPath(filename).suffix.lower()
    named = _BY_ENDING.get(ending)
    active = _ACTIVE_ENDINGS.get(ending)
    if sniffed is None:
        return named or ANYTHING
    if sniffed in _ACTIVE:
        if not _is_told(active, sniffed):
            raise UnsupportedFileType(details={"filename": filename, "content": sniffed})
        return ANYTHING
    if active is not None or (named is not None and _family(named) != _family(sniffed)):
        raise UnsupportedFileType(
            "The file is not what its name says.", details={"filename": filename, "content": sniffed}
        )
    return named or sniffed


def _is_told(active: str | None, sniffed: str) -> bool:
    """Whether the name says as much: a page is a page by name, and XML by any name of the family."""
    if sniffed in _NEVER_STORED:
        return False
    return active == sniffed or (active in _MARKUP and sniffed in _MARKUP)


def _family(media_type: str) -> str:
    """Sound and film come in the same containers, and office documents are archives."""
    if media_type.startswith(("audio/", "video/")):
        return "media"
    if media_type.startswith((_OFFICE, "application/vnd.oasis.")) or media_type == sniffing.ZIP:
        return "archive"
    kind, _, rest = media_type.partition("/")
    return kind if kind in {"image", "text"} else rest
