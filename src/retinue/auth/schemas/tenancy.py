from retinue.access.models import Role
from retinue.auth.schemas.sign_in import NewPassword
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Name, Schema
from retinue.tenants.models import Plan
from retinue.tenants.schemas import TenantOut
from retinue.users.schemas import Address


class FirstAdmin(Address, kw_only=True):
    password: NewPassword
    first_name: Name
    last_name: Name


class TenantCreate(Schema, kw_only=True):
    name: Name
    admin: FirstAdmin
    plan: Plan | None = None
    limits: JsonObject = {}


class FirstAdminOut(Schema, kw_only=True):
    id: str
    email: str
    role: Role


class TenantCreatedOut(TenantOut, kw_only=True):
    admin: FirstAdminOut
