"""Request and response shapes that the drafts of all records share."""

from retinue.kit.clock import Instant
from retinue.kit.schema.base import Schema


class DraftState(Schema, kw_only=True):
    """Without a stored draft, its content is that of the record as it is now."""

    is_stored: bool
    is_changed: bool
    is_outdated: bool
    updated_at: Instant | None
    updated_by: str | None


class DraftPublication(Schema, kw_only=True):
    """How to publish; without a body the record is published as it is."""

    from_draft: bool = False
    force: bool = False
