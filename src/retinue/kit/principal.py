"""The principal of a request: a person, a service account, an embed key, nobody, or the instance itself."""

from typing import Literal

import msgspec

from retinue.kit.config_cache import ConfigVersion
from retinue.kit.errors import Forbidden, PersonRequired
from retinue.kit.limits import PlanLimits

SERVICE_ACCOUNT_ROLE = "service_account"
"""The role that a service account shows: it has permissions of its own, not those of a role."""

_OWNERS = frozenset({"user", "service_account"})


class Restriction(msgspec.Struct, frozen=True):
    """The reason why an account may only use its own profile, second factors and sessions."""

    reason: str
    required: str
    message: str


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["user", "service_account", "embed_key", "anonymous", "system"]
    id: str = ""
    tenant_id: str = ""
    home_tenant_id: str = ""
    """The tenant whose limits are charged; set only while a super administrator acts in another tenant."""
    role: str = ""
    permissions: frozenset[str] = frozenset()
    session_id: str = ""
    second_factor_at: str = ""
    restriction: Restriction | None = None
    limits: PlanLimits | None = None
    agent_id: str = ""
    """The agent of an embed key."""
    requests_per_minute: int | None = None
    requests_per_visitor: int | None = None
    """The own limit of an embed key or service account, applied in addition to the tenant's plan."""
    may_move_secrets: bool = True
    """False while a file is applied, which anybody may have written: secrets stay where they are sent now."""
    tokens_left: int | None = None
    """Tokens that an embed key or service account may still spend this month; None if it has no budget."""
    is_strict: bool = False
    """True for a service account whose requests are refused if a name in them has no effect."""
    config_version: ConfigVersion | None = None
    """The tenant's configuration version, read during authentication; None if it was not read."""
    no_listeners_until: float = 0.0
    """Monotonic time until which the tenant is assumed to have no event listeners of its own."""

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    def require(self, permission: str) -> None:
        if permission not in self.permissions:
            raise Forbidden(permission, self.role or self.kind)

    def require_admitted(self) -> None:
        """Raise `Forbidden` if the account is restricted, for example not approved yet."""
        restriction = self.restriction
        if restriction is not None:
            raise Forbidden(
                restriction.required, self.role, reason=restriction.reason, message=restriction.message
            )

    def require_person(self) -> None:
        """Raise `PersonRequired` for a service account."""
        if self.kind == "service_account":
            raise PersonRequired(self.role)

    @property
    def owner_id(self) -> str:
        """The id under which this principal owns what it creates; empty for visitors and the instance."""
        return self.id if self.kind in _OWNERS else ""

    @property
    def is_super_admin(self) -> bool:
        return self.role == "super_admin"


ANONYMOUS = Principal(kind="anonymous", role="anonymous")
SYSTEM = Principal(kind="system", role="system")
