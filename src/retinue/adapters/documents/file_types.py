"""The supported types of documents, by file extension."""

from pathlib import PurePosixPath

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

HTML_EXTENSION = ".html"

MIME_TYPES_BY_EXTENSION: dict[str, str] = {
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".docx": DOCX,
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
}


def find_extension(filename: str) -> str | None:
    """Return the extension that selects the parser, or None if it is not supported."""
    extension = PurePosixPath(filename.strip().replace("\\", "/")).suffix.lower()
    return extension if extension in MIME_TYPES_BY_EXTENSION else None
