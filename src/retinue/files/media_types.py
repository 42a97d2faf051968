"""The media type a file is recorded with: by its content if that is recognized, else by its name.

Active types such as HTML are never recorded; such files are stored as `application/octet-stream`. Files whose
content contradicts their name are refused.
"""

from pathlib import PurePosixPath

from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http import media_types

OCTET_STREAM = "application/octet-stream"

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
# Accepted, but recorded as application/octet-stream, so that no browser renders or runs them from here.
_ACTIVE_ENDINGS = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), media_types.HTML),
    ".svg": media_types.SVG,
    **dict.fromkeys((".xml", ".xsl", ".xsd", ".rss", ".atom"), media_types.XML),
    **dict.fromkeys((".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl"), media_types.SCRIPT),
}
_NEVER_STORED = {media_types.EXECUTABLE, media_types.PHP}
_ACTIVE = {media_types.HTML, media_types.SVG, media_types.XML, media_types.SCRIPT, *_NEVER_STORED}
# HTML, SVG and XML begin alike, so any of their extensions accepts any of their contents.
_MARKUP = {media_types.HTML, media_types.SVG, media_types.XML}


def resolve_media_type(filename: str, sniffed: str | None) -> str:
    """Return the media type for a filename and the type `sniff_file` found in the content."""
    ending = PurePosixPath(filename).suffix.lower()
    named = _BY_ENDING.get(ending)
    active = _ACTIVE_ENDINGS.get(ending)
    if sniffed is None:
        return named or OCTET_STREAM
    if sniffed in _ACTIVE:
        if not _is_expected(active, sniffed):
            raise UnsupportedFileType(details={"filename": filename, "content": sniffed})
        return OCTET_STREAM
    if active is not None or (named is not None and _family(named) != _family(sniffed)):
        raise UnsupportedFileType(
            "The file content contradicts its name.", details={"filename": filename, "content": sniffed}
        )
    return named or sniffed


def _is_expected(active: str | None, sniffed: str) -> bool:
    """Return whether the extension announces the active content. Executables and PHP are never accepted."""
    if sniffed in _NEVER_STORED:
        return False
    return active == sniffed or (active in _MARKUP and sniffed in _MARKUP)


def _family(media_type: str) -> str:
    """Return a group of types that count as one: audio and video share containers, office files are zips."""
    if media_type.startswith(("audio/", "video/")):
        return "media"
    if media_type.startswith((_OFFICE, "application/vnd.oasis.")) or media_type == media_types.ZIP:
        return "archive"
    kind, _, rest = media_type.partition("/")
    return kind if kind in {"image", "text"} else rest
