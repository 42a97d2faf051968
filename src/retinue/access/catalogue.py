"""The catalogue of permissions and the roles that hold each one by default."""

from retinue.access.models import Role
from retinue.kit.context.manifest import Permission

_AD, _AU, _V = Role.agent_developer, Role.agent_user, Role.viewer


def _permission(key: str, description: str, *roles: Role) -> Permission:
    return Permission(key=key, description=description, roles=frozenset(roles))


CATALOGUE: tuple[Permission, ...] = (
    _permission("agents:read", "See agents, their status and statistics", _AD, _AU, _V),
    _permission("agents:write", "Create and change agents", _AD),
    _permission("agents:delete", "Delete agents", _AD),
    _permission("agents:chat", "Chat with agents", _AD, _AU),
    _permission("conversations:read", "Read conversations", _AD, _AU),
    _permission("conversations:write", "Rename, rate and delete conversations", _AD, _AU),
    _permission("workflows:read", "See workflows and their executions", _AD, _AU, _V),
    _permission("workflows:write", "Create and change workflows", _AD),
    _permission("workflows:execute", "Run workflows", _AD),
    _permission("forms:read", "See forms and their submissions", _AD, _AU, _V),
    _permission("forms:write", "Create and change forms", _AD),
    _permission("forms:submit", "Submit forms", _AD, _AU),
    _permission("tools:read", "See tools", _AD, _AU, _V),
    _permission("tools:write", "Create and change tools", _AD),
    _permission("tools:execute", "Run tools", _AD),
    _permission("data_tables:read", "Read data tables", _AD, _AU, _V),
    _permission("data_tables:write", "Create and change data tables and rows", _AD),
    _permission("credentials:read", "See credentials, never their secrets", _AD),
    _permission("credentials:write", "Create and change credentials", _AD),
    _permission("credentials:reveal", "Read the secrets of credentials"),
    _permission("webhooks:read", "See webhooks and deliveries", _AD, _V),
    _permission("webhooks:write", "Create and change webhooks", _AD),
    _permission("events:read", "Read the event log and subscriptions", _AD, _V),
    _permission("events:write", "Create subscriptions and emit test events", _AD),
    _permission("notification_channels:read", "See notification channels", _AD, _V),
    _permission("notification_channels:write", "Create and change notification channels"),
    _permission("notification_channels:reveal", "Read the secrets of notification channels"),
    _permission("approvals:read", "See approvals", _AD, _AU),
    _permission("approvals:decide", "Approve and reject", _AD, _AU),
    _permission("files:read", "Read files", _AD, _AU),
    _permission("files:write", "Upload and delete files", _AD, _AU),
    _permission("api_keys:read", "See provider keys"),
    _permission("api_keys:write", "Create and change provider keys"),
    _permission("embed_keys:read", "See embed keys", _AD),
    _permission("embed_keys:write", "Create and revoke embed keys", _AD),
    _permission("service_accounts:read", "See service accounts, never their secrets"),
    _permission("service_accounts:write", "Create service accounts and their secrets"),
    _permission("usage:read", "See usage and budgets", _AD),
    _permission("usage:write", "Create and change budgets"),
    _permission("audit:read", "Read the audit log"),
    _permission("audit:write", "Send the audit log to other systems"),
    _permission("traces:read", "See traces of turns, runs and deliveries", _AD),
    _permission("traces:write", "Send traces to other systems"),
    _permission("admin:users", "Manage users, see permissions and roles"),
    _permission("admin:roles", "Change the permissions of roles"),
    _permission("admin:tenants", "Manage tenants"),
)

PERMISSION_KEYS = tuple(permission.key for permission in CATALOGUE)

SUPER_ADMIN_ONLY = frozenset({"admin:roles", "admin:tenants"})
# A machine that creates machines would outlive the person who is responsible for it.
PEOPLE_ONLY = SUPER_ADMIN_ONLY | {"service_accounts:write"}


def default_permissions(role: Role) -> list[str]:
    """Return the permissions of a role until a super administrator changes them."""
    if role is Role.super_admin:
        return list(PERMISSION_KEYS)
    if role is Role.tenant_admin:
        return [key for key in PERMISSION_KEYS if key not in SUPER_ADMIN_ONLY]
    return [permission.key for permission in CATALOGUE if role in permission.roles]
