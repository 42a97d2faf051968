from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from retinue.kit.db.models import Record, ServerDefault, table
from retinue.kit.json_types import JsonObject

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
MailDomain = Annotated[str, Meta(max_length=253, pattern=rf"^(\*|(\*\.)?{_LABEL}(\.{_LABEL})+)$")]


class Plan(StrEnum):
    free = "free"
    pro = "pro"
    team = "team"
    enterprise = "enterprise"


class MailToOutsiders(msgspec.Struct, kw_only=True, frozen=True):
    """Which addresses outside the tenant its workflows may write to, and how often in a day (UTC)."""

    domains: Annotated[list[MailDomain], Meta(min_length=1, max_length=100)]
    per_day: Annotated[int, Meta(ge=1, le=10_000)]


@table("tenants", prefix="ten", identity_columns=("plan", "limits", "is_listened_to"))
class Tenant(Record, kw_only=True):
    """A customer of the instance. `limits` overrides single limits of its plan."""

    name: str
    plan: Plan
    limits: JsonObject = {}
    is_default: bool = False
    is_listened_to: Annotated[bool, ServerDefault("false")] = False
    """Whether the tenant ever had a webhook or a subscription. Events are sent to the worker only then."""
    trace_sample: float | None = None
    """The share of its traces to keep; None leaves it to the instance."""
    mail_to_outsiders: MailToOutsiders | None = None
    language: str | None = None
    """The language of new accounts; None leaves it to the product."""

    @property
    def stamped_tenant_id(self) -> str | None:
        return self.id
