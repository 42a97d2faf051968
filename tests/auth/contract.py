"""Objects and calls of sign-in, registration and second factors for the contract tests."""

from retinue.access.models import Role
from retinue.auth.models import InstanceSetup, MfaDevice, Session
from retinue.auth.setup_state import SETUP_ID
from retinue.kit.crypto import Sealed
from retinue.kit.ids import hash_token
from retinue.users.models import Invitation
from tests.contract.knowledge import FAR, Call, DomainContract, Scene, World
from tests.factories import second_factors
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD


async def _make(world: World) -> dict[str, str]:
    user_id = world.owner.id
    session = Session(user_id=user_id, expires_at=FAR, last_used_at=FAR)
    ids = {"session_id": (await world.ctx.db.insert(session)).id}
    if world.wants("device_id"):
        device = MfaDevice(user_id=user_id, name=world.name, secret=Sealed.of("S"), is_active=True)
        ids["device_id"] = (await world.ctx.db.insert(device)).id
    return ids


CONTRACT = DomainContract(make=_make)


SEEN = "users.last_login_at users.updated_at"
NEW_PASSWORD = "Another-Staple-3"


@CONTRACT.writes(SEEN)
async def login(scene: Scene) -> Call:
    return Call(scene.api, {"email": scene.user.email, "password": PASSWORD})


@CONTRACT.writes()
async def refresh_tokens(scene: Scene) -> Call:
    body = {"email": scene.user.email, "password": PASSWORD}
    tokens = (await scene.api.post("/auth/login", body)).json()
    return Call(scene.api, {"refresh_token": tokens["refresh_token"]})


@CONTRACT.writes(users=1)
async def register(scene: Scene) -> Call:
    body = {"email": "new@example.com", "password": PASSWORD, "first_name": "New", "last_name": "Person"}
    return Call(scene.api, body)


async def create_invitation(scene: Scene, email: str) -> str:
    """Return the token of an invitation into the tenant of the scene."""
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


@CONTRACT.writes()
async def read_invitation(scene: Scene) -> Call:
    return Call(scene.api, {"invite_token": await create_invitation(scene, "guest@example.com")})


async def printed_link(scene: Scene) -> str:
    """Return the token of a set-up that is open."""
    token = "printed-at-the-start"
    setup = InstanceSetup(id=SETUP_ID, token_hashes=[hash_token(token)])
    async with scene.people.context() as ctx:
        await ctx.system("test").insert(setup)
    return token


@CONTRACT.writes()
async def check_link(scene: Scene) -> Call:
    return Call(scene.api, {"purpose": "setup", "token": await printed_link(scene)})


@CONTRACT.writes(users=1)
async def set_up_instance(scene: Scene) -> Call:
    token = await printed_link(scene)
    body = {"email": "first@example.com", "password": PASSWORD, "first_name": "First", "last_name": "Person"}
    return Call(scene.api, {"token": token, **body})


@CONTRACT.writes("users.email_verified users.updated_at")
async def verify_email(scene: Scene) -> Call:
    await scene.api.post("/auth/register", (await register(scene)).body)
    return Call(scene.api, {"token": link_token(await last_mail(scene.service, "new@example.com"))})


@CONTRACT.writes()
async def resend_verification(scene: Scene) -> Call:
    await scene.api.post("/auth/register", (await register(scene)).body)
    return Call(scene.api, {"email": "new@example.com"})


@CONTRACT.writes()
async def forgot_password(scene: Scene) -> Call:
    return Call(scene.api, {"email": scene.user.email})


@CONTRACT.writes("users.password_hash users.updated_at")
async def reset_password(scene: Scene) -> Call:
    await scene.api.post("/auth/forgot-password", {"email": scene.user.email})
    token = link_token(await last_mail(scene.service, scene.user.email))
    return Call(scene.api, {"token": token, "new_password": NEW_PASSWORD})


@CONTRACT.writes("users.password_hash users.updated_at")
async def change_password(scene: Scene) -> Call:
    return Call(scene.me, {"current_password": PASSWORD, "new_password": NEW_PASSWORD})


@CONTRACT.writes()
async def set_up_mfa(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Phone"})


@CONTRACT.writes("users.mfa_enabled users.updated_at")
async def enable_mfa(scene: Scene) -> Call:
    factor = await second_factors.set_up(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@CONTRACT.writes("users.mfa_enabled users.updated_at")
async def disable_mfa(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@CONTRACT.writes()
async def verify_mfa_code(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"code": factor.code()})


@CONTRACT.writes("users.mfa_enabled users.updated_at")
async def remove_mfa_device(scene: Scene) -> Call:
    await second_factors.enable(scene.me, scene.clock)
    device = await second_factors.only_device(scene.me)
    return Call(scene.me, {"password": PASSWORD}, {"device_id": device["id"]})


@CONTRACT.writes()
async def renew_recovery_codes(scene: Scene) -> Call:
    await second_factors.enable(scene.me, scene.clock)
    return Call(scene.me, {"password": PASSWORD})


@CONTRACT.writes(SEEN)
async def complete_sign_in(scene: Scene) -> Call:
    factor = await second_factors.enable(scene.me, scene.clock)
    token = await second_factors.mfa_token(scene.api, scene.user)
    return Call(scene.api, {"mfa_token": token, "code": factor.code()})
