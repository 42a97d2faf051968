from typing import Annotated, Self

import msgspec
from msgspec import Meta

from retinue.files.models import File, Purpose
from retinue.kit.clock import Instant
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Schema

MAX_URL_SECONDS = 24 * 3600

When = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]


class FileList(ListQuery, kw_only=True):
    purpose: Purpose | None = None
    mime_type: Annotated[str, Meta(max_length=255)] | None = None
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None


class FileOut(Schema, kw_only=True):
    """A file with `expires_at` is deleted then, unless something uses it."""

    file_id: str
    filename: str
    size_bytes: int
    mime_type: str
    purpose: str
    sha256: str
    created_at: Instant
    expires_at: Instant | None

    @classmethod
    def from_record(cls, file: File) -> Self:
        return cls.of(file, file_id=file.id)


class FileUrlCreate(Schema, kw_only=True):
    """`expires_in` is the lifetime of the URL in seconds."""

    expires_in: Annotated[int, Meta(ge=1, le=MAX_URL_SECONDS)] = 3600


class FileUrl(Schema, kw_only=True):
    """Anyone who has this URL can download the file until `expires_at`."""

    url: str
    expires_at: Instant


class SignedQuery(Schema, kw_only=True):
    """The query of a signed URL: its expiry, the version of the signing key, and the signature."""

    expires: int = 0
    key: int = 0
    signature: str = ""


class FileDeleteQuery(Schema, kw_only=True):
    force: bool = False
