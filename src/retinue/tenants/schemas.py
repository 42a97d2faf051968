from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from retinue.kit.json_types import JsonObject
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Name, Schema
from retinue.tenants.models import MailToOutsiders, Plan, Tenant

OwnLimits = JsonObject
TraceSample = Annotated[float, Meta(ge=0, le=1)]


class TenantOut(Schema, kw_only=True):
    """`limits` are the effective limits: those of the plan, overridden by the tenant's own."""

    id: str
    name: str
    plan: Plan
    limits: PlanLimits
    trace_sample: float | None
    mail_to_outsiders: MailToOutsiders | None
    language: str | None
    created_at: str

    @classmethod
    def from_record(cls, tenant: Tenant) -> "TenantOut":
        return cls.of(tenant, limits=limits_for(tenant.plan, tenant.limits))


class TenantUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    plan: Plan | UnsetType = UNSET
    limits: OwnLimits | UnsetType = UNSET
    trace_sample: TraceSample | UnsetType | None = UNSET


class OwnTenantUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    language: Annotated[str, Meta(max_length=64)] | UnsetType | None = UNSET
    mail_to_outsiders: MailToOutsiders | UnsetType | None = UNSET


class SettingDecidedBy(StrEnum):
    operator = "operator"
    super_admin = "super_admin"


class DecidedSetting(Schema, kw_only=True):
    name: str
    value: str | int | bool | None
    decided_by: SettingDecidedBy
    variable: str | None


class TenantSettings(Schema, kw_only=True):
    settings: list[DecidedSetting]


class TenantList(ListQuery, kw_only=True):
    plan: Plan | None = None
