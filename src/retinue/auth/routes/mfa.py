import msgspec
from msgspec import UNSET

from retinue.auth import session_cookies
from retinue.auth.errors import (
    AccountInactive,
    DeviceNotFound,
    ForeignOrigin,
    InvalidCode,
    MfaNotEnabled,
    MfaNotSetUp,
    MfaTokenInvalid,
    StepUpRequired,
    TooManyDevices,
)
from retinue.auth.mfa import challenges, codes, devices
from retinue.auth.schemas.mfa import (
    MfaCode,
    MfaDeviceOut,
    MfaDevices,
    MfaEnabledOut,
    MfaSetup,
    MfaSetupRequest,
    MfaSignIn,
    MfaStatus,
    MfaValidity,
    RecoveryCodes,
    StepUp,
)
from retinue.auth.schemas.sign_in import Tokens
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import ACCOUNT, PUBLIC, Routes
from retinue.kit.schema.base import MessageReply

sign_in_routes = Routes("/auth/mfa", tag="auth")
routes = Routes("/api/v1/mfa", tag="mfa")


@sign_in_routes.post(
    "/verify",
    requires=PUBLIC,
    idempotent=False,
    refuses_form_label=True,
    errors=(MfaTokenInvalid, InvalidCode, AccountInactive, VaultSealed, ForeignOrigin),
)
async def complete_sign_in(ctx: Context, body: MfaSignIn, request: Request) -> Reply[Tokens]:
    """Finish signing in with a code from an authenticator, or with a recovery code.

    A wrong code answers 401 `unauthorized` with the reason `invalid_code`; after five attempts, sign in with
    the password again.
    """
    if body.session == "cookie":
        session_cookies.require_own_page(request, ctx.settings)
    tokens = await challenges.complete(ctx, body.mfa_token, body.code)
    if body.session is UNSET:
        return Reply(tokens)
    cookie = session_cookies.set_cookie(tokens, ctx.settings, is_kept=body.remember)
    return Reply(msgspec.structs.replace(tokens, refresh_token=UNSET), headers=cookie)


@routes.get("/status", requires=ACCOUNT)
async def get_mfa_status(ctx: Context) -> MfaStatus:
    """Return whether the caller has a second factor, and how many recovery codes are left."""
    return await devices.status(ctx)


@routes.post(
    "/setup", requires=ACCOUNT, idempotent=False, errors=(StepUpRequired, TooManyDevices, VaultSealed)
)
async def set_up_mfa(ctx: Context, body: MfaSetupRequest) -> MfaSetup:
    """Create an authenticator and recovery codes for the caller.

    Both take effect when `POST /api/v1/mfa/enable` confirms the first code; a new setup replaces one that was
    not confirmed. If MFA is enabled, this adds another authenticator, up to five, and needs a `code` or the
    `password` unless a second factor was shown within 15 minutes.
    """
    return await devices.set_up(ctx, body)


@routes.post("/enable", requires=ACCOUNT, idempotent=False, errors=(MfaNotSetUp, VaultSealed))
async def enable_mfa(ctx: Context, body: MfaCode) -> MfaEnabledOut:
    """Confirm the authenticator that was set up with its first code.

    From then on, signing in takes a code. A wrong code answers 422.
    """
    count = await devices.enable(ctx, body.code)
    return MfaEnabledOut(message="MFA is enabled. Signing in now takes a code.", recovery_codes_count=count)


@routes.post("/disable", requires=ACCOUNT, idempotent=False, errors=(MfaNotEnabled, VaultSealed))
async def disable_mfa(ctx: Context, body: MfaCode) -> MessageReply:
    """Turn MFA off with a code of an authenticator or a recovery code.

    All authenticators and recovery codes are deleted. A wrong code answers 422.
    """
    await devices.disable(ctx, body.code)
    return MessageReply(message="MFA is disabled. Signing in no longer takes a code.")


@routes.post("/verify", requires=ACCOUNT, idempotent=False, errors=(VaultSealed,))
async def verify_mfa_code(ctx: Context, body: MfaCode) -> MfaValidity:
    """Check whether one of the caller's authenticators shows this code now.

    The code is not used up. Recovery codes are not accepted here. A valid code counts as a second factor for
    the next 15 minutes. Wrong codes count towards the limit of attempts.
    """
    return MfaValidity(valid=await codes.is_current(ctx, body.code))


@routes.get("/devices", requires=ACCOUNT)
async def list_mfa_devices(ctx: Context) -> MfaDevices:
    """List the caller's enabled authenticators."""
    return MfaDevices(
        devices=[MfaDeviceOut.of(device, type="totp") for device in await devices.list_active(ctx)]
    )


@routes.delete("/devices/{device_id}", requires=ACCOUNT, errors=(DeviceNotFound, StepUpRequired, VaultSealed))
async def remove_mfa_device(ctx: Context, device_id: str, body: StepUp) -> MessageReply:
    """Remove one of the caller's authenticators.

    Removing the last one turns MFA off and needs a code; the password alone is not enough.
    """
    await devices.remove(ctx, device_id, body)
    return MessageReply(message="The device has been removed.")


@routes.post(
    "/recovery-codes",
    requires=ACCOUNT,
    idempotent=False,
    errors=(MfaNotEnabled, StepUpRequired, VaultSealed),
)
async def renew_recovery_codes(ctx: Context, body: StepUp) -> RecoveryCodes:
    """Create ten new recovery codes. Earlier ones become invalid at once."""
    fresh = await devices.renew_recovery_codes(ctx, body)
    return RecoveryCodes(
        recovery_codes=fresh,
        message="Keep these codes in a safe place. Earlier codes are no longer valid.",
    )
