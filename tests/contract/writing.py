"""Each route that takes a JSON body: who calls it with what so that it succeeds, and what that may change."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import HeldClock
from retinue.kit.ids import hash_token
from retinue.users.models import Invitation, User
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.contract.world import FAR, some_tool
from tests.factories import second_factors
from tests.factories.credentials import some_credential
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD, People
from tests.factories.providers import some_key

NEW_PASSWORD = "Another-Staple-3"


@dataclass
class Scene:
    service: Service
    clock: HeldClock
    people: People
    api: Api
    admin: Api
    user: User
    me: Api
    provider: ProviderServer


@dataclass
class Call:
    caller: Api
    body: dict[str, Any]
    path: dict[str, str] = field(default_factory=dict)


@dataclass
class Write:
    """`changes` are the columns of existing rows that may change, `inserts` how many rows are new."""

    prepare: Callable[[Scene], Awaitable[Call]]
    changes: set[str]
    inserts: dict[str, int]


WRITES: dict[str, Write] = {}
SEEN = "users.last_login_at users.updated_at"


def writes(changes: str = "", **inserts: int) -> Callable[[Any], Any]:
    """Declare how to call the route of the same name."""

    def declare(prepare: Any) -> Any:
        WRITES[prepare.__name__] = Write(prepare, set(changes.split()), inserts)
        return prepare

    return declare


@writes(SEEN)
async def login(scene: Scene) -> Call:
    return Call(scene.api, {"email": scene.user.email, "password": PASSWORD})


@writes()
async def refresh_tokens(scene: Scene) -> Call:
    body = {"email": scene.user.email, "password": PASSWORD}
    tokens = (await scene.api.post("/auth/login", body)).json()
    return Call(scene.api, {"refresh_token": tokens["refresh_token"]})


@writes(users=1)
async def register(scene: Scene) -> Call:
    body = {"email": "new@example.com", "password": PASSWORD, "first_name": "New", "last_name": "Person"}
    return Call(scene.api, body)


@writes("users.email_verified users.updated_at")
async def verify_email(scene: Scene) -> Call:
    await scene.api.post("/auth/register", (await register(scene)).body)
    return Call(scene.api, {"token": link_token(await last_mail(scene.service, "new@example.com"))})


@writes()
async def resend_verification(scene: Scene) -> Call:
    await scene.api.post("/auth/register", (await register(scene)).body)
    return Call(scene.api, {"email": "new@example.com"})


@writes()
async def forgot_password(scene: Scene) -> Call:
    return Call(scene.api, {"email": scene.user.email})


@writes("users.password_hash users.updated_at")
async def reset_password(scene: Scene) -> Call:
    await scene.api.post("/auth/forgot-password", {"email": scene.user.email})
    token = link_token(await last_mail(scene.service, scene.user.email))
    return Call(scene.api, {"token": token, "new_password": NEW_PASSWORD})


@writes("users.password_hash users.updated_at")
async def change_password(scene: Scene) -> Call:
    return Call(scene.me, {"current_password": PASSWORD, "new_password": NEW_PASSWORD})


@writes()
async def set_up_mfa(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Phone"})


@writes("users.mfa_enabled users.updated_at")
async def enable_mfa(scene: Scene) -> Call:
    factor = await second_factors.set_up(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@writes("users.mfa_enabled users.updated_at")
async def disable_mfa(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@writes()
async def verify_mfa_code(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@writes("users.mfa_enabled users.updated_at")
async def remove_mfa_device(scene: Scene) -> Call:
    await second_factors.enable(scene.me, scene.clock)
    device = await second_factors.only_device(scene.me)
    return Call(scene.me, {"password": PASSWORD}, {"device_id": device["id"]})


@writes()
async def renew_recovery_codes(scene: Scene) -> Call:
    await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"password": PASSWORD})


@writes(SEEN)
async def complete_sign_in(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    token = await second_factors.mfa_token(scene.api, scene.user)
    return Call(scene.api, {"mfa_token": token, "code": factor.code()})


@writes("users.first_name users.timezone users.updated_at")
async def update_profile(scene: Scene) -> Call:
    return Call(scene.me, {"first_name": "Augusta", "timezone": "Europe/London"})


@writes(invitations=1)
async def invite_user(scene: Scene) -> Call:
    return Call(scene.me, {"email": "guest@example.com", "role": "viewer"})


@writes("users.role users.updated_at")
async def change_user_role(scene: Scene) -> Call:
    return Call(scene.admin, {"role": "agent_user"}, {"user_id": scene.user.id})


@writes("role_permissions.permissions role_permissions.updated_at")
async def set_role_permissions(scene: Scene) -> Call:
    return Call(scene.admin, {"permissions": ["agents:read"]}, {"role": "viewer"})


@writes(tenants=1, users=1)
async def create_tenant(scene: Scene) -> Call:
    person = {"email": "first@example.com", "password": PASSWORD, "first_name": "F", "last_name": "A"}
    return Call(scene.admin, {"name": "New", "admin": person})


@writes("tenants.name tenants.updated_at")
async def update_tenant(scene: Scene) -> Call:
    return Call(scene.admin, {"name": "Renamed"}, {"tenant_id": scene.user.tenant_id})


async def _tool(scene: Scene) -> dict[str, str]:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return {"tool_id": (await ctx.db.insert(some_tool(scene.me))).id}


_NEW_TOOL = {"name": "New", "category": "crm", "tool_type": "rest_api", "config": {}, "auth_type": "none"}


@writes(tools=1)
async def create_tool(scene: Scene) -> Call:
    return Call(scene.me, _NEW_TOOL)


@writes("tools.name tools.config tools.updated_at")
async def update_tool(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "config": {"timeout_ms": 1}}, await _tool(scene))


@writes("tools.usage_count tools.last_used_at")
async def execute_tool(scene: Scene) -> Call:
    return Call(scene.me, {"input": {"city": "Rome"}}, await _tool(scene))


@writes(tools=1)
async def import_openapi(scene: Scene) -> Call:
    document = {"openapi": "3.1.0", "info": {"title": "A"}, "paths": {"/a": {"get": {"responses": {}}}}}
    return Call(scene.me, {"document": document, "base_url": "https://api.example.com"})


async def _credential(scene: Scene) -> dict[str, str]:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return {"credential_id": (await ctx.db.insert(some_credential(scene.user.id))).id}


@writes(credentials=1)
async def create_credential(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "type": "api_key", "secrets": {"api_key": "sk-1"}})


@writes("credentials.name credentials.metadata credentials.updated_at")
async def update_credential(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "metadata": {"team": "sales"}}, await _credential(scene))


_OF_SECRETS = "secrets secret_keys masked version rotated_at updated_at"


@writes(" ".join(f"credentials.{column}" for column in _OF_SECRETS.split()))
async def update_credential_secrets(scene: Scene) -> Call:
    return Call(scene.me, {"secrets": {"api_key": "sk-2"}}, await _credential(scene))


@writes(credential_access=1)
async def grant_credential_access(scene: Scene) -> Call:
    body = {"integration_type": "tool", "integration_id": "tool_1"}
    return Call(scene.me, body, await _credential(scene))


@writes(provider_keys=1)
async def create_api_key(scene: Scene) -> Call:
    return Call(scene.me, {"provider": "openai", "api_key": "sk-1"})


@writes("provider_keys.name provider_keys.priority provider_keys.updated_at")
async def update_api_key(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        key = await ctx.db.insert(some_key(scene.user.id))
    return Call(scene.me, {"name": "Renamed", "priority": 3}, {"key_id": key.id})


async def set_scene(
    service: Service, clock: HeldClock, people: People, admin: Api, provider: ProviderServer
) -> Scene:
    user = await people.user(Role.tenant_admin, await people.tenant("Mine"))
    return Scene(service, clock, people, people.api, admin, user, await people.sign_in(user), provider)


async def invited(scene: Scene, email: str) -> str:
    """The token of an invitation into the tenant of the scene."""
    async with scene.people.context(scene.user.tenant_id) as ctx:
        await ctx.db.insert(
            Invitation(
                email=email,
                role=Role.viewer,
                token_hash=hash_token("token"),
                invited_by=scene.user.id,
                expires_at=FAR,
            )
        )
    return "token"
