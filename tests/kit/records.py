"""Records that exist only in tests, and a database with their tables."""

import enum
from typing import Annotated, Any

from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table


class Colour(enum.StrEnum):
    red = "red"
    green = "green"


@table("test_boxes", prefix="box", unique=[("tenant_id", "name")])
class Box(TenantRecord, kw_only=True):
    name: str
    size: int = 0
    weight: float = 0.0
    is_open: bool = False
    colour: Colour = Colour.red
    labels: dict[str, Any] = {}
    note: str | None = None
    secret: Sealed | None = None


@table("test_lids", prefix="lid")
class Lid(TenantRecord, kw_only=True):
    box_id: Annotated[str, Ref(Box, cascade=True)]
