from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema

ChangeAction = Literal["create", "update", "delete", "unchanged"]


class ExportQuery(msgspec.Struct, kw_only=True):
    """`sections` is a list separated by commas; without it, all are exported."""

    sections: Annotated[str, Meta(max_length=400)] = ""
    format: Literal["yaml", "json"] = "yaml"


class PlanRequest(Schema, kw_only=True):
    """`document` is the file as text, or what it contains as an object."""

    document: str | JsonObject
    prune: bool = False


class ApplyRequest(PlanRequest, kw_only=True):
    plan_hash: Annotated[str, Meta(min_length=1, max_length=64)]


class FieldChange(Schema, kw_only=True):
    """A field that differs; without `from` or `to`, it is not set before or after."""

    path: str
    from_: Any = msgspec.field(name="from", default=UNSET)
    to: Any = UNSET


class PlannedObject(Schema, kw_only=True):
    section: str
    name: str
    action: ChangeAction
    diff: list[FieldChange]


class TenantPlan(Schema, kw_only=True):
    changes: list[PlannedObject]
    warnings: list[str]
    plan_hash: str


class TenantApplied(Schema, kw_only=True):
    applied: int
    changes: list[PlannedObject]
    warnings: list[str]
