from typing import Annotated, Any

from msgspec import Meta

from retinue.access.models import Role
from retinue.auth.schemas.accounts import Address
from retinue.auth.schemas.sign_in import Password
from retinue.kit.schemas import Name, Schema
from retinue.tenants.schemas import TenantOut


class FirstAdmin(Address, kw_only=True):
    password: Password
    first_name: Name
    last_name: Name


class TenantCreate(Schema, kw_only=True):
    name: Name
    admin: FirstAdmin
    plan: Annotated[str, Meta(max_length=32)] | None = None
    limits: dict[str, Any] = {}


class FirstAdminOut(Schema, kw_only=True):
    id: str
    email: str
    role: Role


class TenantCreated(TenantOut, kw_only=True):
    admin: FirstAdminOut
