from typing import Any, Self

from retinue.kit.events.declare import Event, event

_EXAMPLE = {"file_id": "file_…", "filename": "invoice.pdf", "purpose": "chat"}
_CONTENT = ("filename",)


class FileEvent(Event, kw_only=True):
    """Base of the file events. The filename is stored, so that it can be shown after the file is deleted."""

    file_id: str
    filename: str
    purpose: str

    @classmethod
    def about(cls, file: Any, **more: Any) -> Self:
        return cls(file_id=file.id, filename=file.filename, purpose=file.purpose, **more)


@event(
    "system.file.uploaded",
    subject="file_id",
    content=_CONTENT,
    example={**_EXAMPLE, "mime_type": "application/pdf", "size_bytes": 48213},
)
class FileUploaded(FileEvent, kw_only=True):
    """Someone uploaded a file through the files API."""

    mime_type: str
    size_bytes: int


@event("system.file.deleted", subject="file_id", audited=True, content=_CONTENT, example=_EXAMPLE)
class FileDeleted(FileEvent, kw_only=True):
    """Someone deleted a file."""


@event(
    "system.file.shared",
    subject="file_id",
    audited=True,
    listed=False,
    example={**_EXAMPLE, "expires_at": "2026-12-01T00:00:00.000000Z"},
)
class FileShared(FileEvent, kw_only=True):
    """Someone created a link through which anyone can download a file for a limited time."""

    expires_at: str
