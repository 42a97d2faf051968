from typing import Annotated, Self

import msgspec
from msgspec import Meta

from retinue.files.models import File, Purpose
from retinue.kit.clock import Instant
from retinue.kit.lists import ListQuery
from retinue.kit.schemas import Schema

LONGEST_URL_S = 24 * 3600

When = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]


class FileList(ListQuery, kw_only=True):
    purpose: Purpose | None = None
    mime_type: Annotated[str, Meta(max_length=255)] | None = None
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None


class FileOut(Schema, kw_only=True):
    """One with `expires_at` is removed after that, unless something uses it by then."""

    file_id: str
    filename: str
    size_bytes: int
    mime_type: str
    purpose: str
    sha256: str
    created_at: Instant
    expires_at: Instant | None

    @classmethod
    def shown(cls, file: File) -> Self:
        return cls.of(file, file_id=file.id)


class FileUrlCreate(Schema, kw_only=True):
    """For how many seconds the address is good."""

    expires_in: Annotated[int, Meta(ge=1, le=LONGEST_URL_S)] = 3600


class FileUrl(Schema, kw_only=True):
    """Whoever has this address can fetch the file until then."""

    url: str
    expires_at: Instant


class SignedQuery(Schema, kw_only=True):
    """What an address of ours carries: until when it is good, which key signed it, and the signature."""

    expires: int = 0
    key: int = 0
    signature: str = ""


class DeleteQuery(Schema, kw_only=True):
    force: bool = False
