"""Who is asking: a user, an embed key, nobody, or the instance itself."""

from typing import Literal

import msgspec

from retinue.kit.errors import Forbidden
from retinue.kit.limits import PlanLimits
from retinue.kit.remembering import Heard


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["user", "embed_key", "anonymous", "system"]
    id: str = ""
    tenant_id: str = ""
    home_tenant_id: str = ""
    """Set only while a super administrator acts in another tenant: the one whose limits are charged."""
    role: str = ""
    permissions: frozenset[str] = frozenset()
    session_id: str = ""
    second_factor_at: str = ""
    limits: PlanLimits | None = None
    agent_id: str = ""
    """The one agent that an embed key is for."""
    requests_per_minute: int | None = None
    """What a key allows itself, besides the limits of its tenant's plan."""
    tokens_left: int | None = None
    """What a key may still spend this month; None where nobody counts."""
    configuration: Heard | None = None
    """What was heard of its tenant's configuration when it was identified; None where nobody looked."""
    unheard_until: float = 0.0
    """Until when, by the instance's `monotonic`, its tenant can be taken to have no listeners of its own."""

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    def require(self, permission: str) -> None:
        if permission not in self.permissions:
            raise Forbidden(permission, self.role or self.kind)

    @property
    def is_super_admin(self) -> bool:
        return self.role == "super_admin"


ANONYMOUS = Principal(kind="anonymous", role="anonymous")
SYSTEM = Principal(kind="system", role="system")
