"""Drafts: content that is edited beside a record in use, until it replaces what the record says."""

from hashlib import blake2b
from typing import Generic, TypeVar

import msgspec

from retinue.kit.context.context import Context
from retinue.kit.db.entity_tags import entity_tag
from retinue.kit.db.models import TenantRecord
from retinue.kit.errors import VersionConflict
from retinue.kit.json_types import JsonObject

_FINGERPRINT_BYTES = 15


class DraftOutdated(VersionConflict):
    """The record has changed since its draft was begun. Compare both, then send `force` to publish it."""


class DraftRecord(TenantRecord, kw_only=True):
    """The content its owner would have; `based_on` is a fingerprint of what the owner had at first."""

    owner_id: str
    based_on: str
    content: JsonObject
    updated_by: str


Owner = TypeVar("Owner", bound=TenantRecord)


class Draft(msgspec.Struct, Generic[Owner], frozen=True, kw_only=True):
    """The draft of a record; without a stored one, the content of its owner as it is now."""

    owner: Owner
    record: DraftRecord | None
    owner_content: JsonObject
    fingerprint: str

    @property
    def content(self) -> JsonObject:
        return self.owner_content if self.record is None else self.record.content

    @property
    def is_stored(self) -> bool:
        return self.record is not None

    @property
    def is_changed(self) -> bool:
        """Whether publishing the draft would change its owner."""
        return self.content != self.owner_content

    @property
    def is_outdated(self) -> bool:
        """Whether the owner has other content than when the draft was begun."""
        return self.record is not None and self.record.based_on != self.fingerprint

    @property
    def etag(self) -> str:
        return entity_tag(self.owner if self.record is None else self.record)

    @property
    def updated_at(self) -> str | None:
        return None if self.record is None else self.record.updated_at

    @property
    def updated_by(self) -> str | None:
        return None if self.record is None else self.record.updated_by

    def require_seen(self, expected: frozenset[str] | None) -> None:
        """Raise if the draft is not the version that the caller has seen; None accepts any."""
        if expected is not None and self.etag not in expected:
            raise VersionConflict(self.etag, updated_at=self.updated_at, updated_by=self.updated_by)

    def require_current(self) -> None:
        """Raise if publishing the draft would undo a change made beside it."""
        if self.is_outdated:
            raise DraftOutdated(entity_tag(self.owner), updated_at=self.owner.updated_at)


class Drafts(Generic[Owner]):
    """The drafts of one kind of record, of which they replace these fields.

    A change of `cosmetic` fields beside a draft is no reason to ask before the draft replaces it.
    """

    def __init__(
        self, record: type[DraftRecord], fields: tuple[str, ...], *, cosmetic: tuple[str, ...] = ()
    ) -> None:
        self._record = record
        self._fields = fields
        self._cosmetic = cosmetic

    async def load(self, ctx: Context, owner: Owner) -> Draft[Owner]:
        record = await ctx.db.find(self._record, owner_id=owner.id)
        content = msgspec.to_builtins({name: getattr(owner, name) for name in self._fields})
        compared = {name: value for name, value in content.items() if name not in self._cosmetic}
        return Draft(owner=owner, record=record, owner_content=content, fingerprint=_fingerprint(compared))

    async def save(self, ctx: Context, draft: Draft[Owner], content: JsonObject) -> Draft[Owner]:
        """Store the content for an owner that is locked; the owner stays as it is."""
        saved = msgspec.to_builtins(content)
        if draft.record is None:
            await ctx.db.insert(
                self._record(
                    owner_id=draft.owner.id,
                    based_on=draft.fingerprint,
                    content=saved,
                    updated_by=ctx.principal.id,
                )
            )
        else:
            await ctx.db.update(draft.record, content=saved, updated_by=ctx.principal.id)
        return await self.load(ctx, draft.owner)

    async def discard(self, ctx: Context, draft: Draft[Owner]) -> None:
        if draft.record is not None:
            await ctx.db.delete(draft.record)


def _fingerprint(content: JsonObject) -> str:
    return blake2b(msgspec.json.encode(content, order="sorted"), digest_size=_FINGERPRINT_BYTES).hexdigest()
