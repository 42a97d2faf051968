"""The kinds of document that can be read, by the ending of their names."""

from pathlib import PurePosixPath

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

KINDS: dict[str, str] = {
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".docx": DOCX,
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
}


def extension(filename: str) -> str | None:
    """The ending that decides how a file is read, or None when no parser is for it."""
    ending = PurePosixPath(filename.strip().replace("\\", "/")).suffix.lower()
    return ending if ending in KINDS else None
