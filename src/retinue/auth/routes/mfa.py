from retinue.auth.errors import (
    AccountInactive,
    DeviceNotFound,
    InvalidCode,
    MfaNotEnabled,
    MfaNotSetUp,
    MfaTokenInvalid,
    StepUpRequired,
    TooManyDevices,
)
from retinue.auth.mfa import challenges, codes, devices
from retinue.auth.mfa.schemas import (
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
from retinue.kit.http.routing import PUBLIC, SIGNED_IN, Routes
from retinue.kit.schemas import Message

sign_in_routes = Routes("/auth/mfa", tag="auth")
routes = Routes("/api/v1/mfa", tag="mfa")


@sign_in_routes.post(
    "/verify",
    requires=PUBLIC,
    idempotent=False,
    errors=(MfaTokenInvalid, InvalidCode, AccountInactive, VaultSealed),
)
async def complete_sign_in(ctx: Context, body: MfaSignIn) -> Tokens:
    return await challenges.complete(ctx, body.mfa_token, body.code)


@routes.get("/status", requires=SIGNED_IN)
async def get_mfa_status(ctx: Context) -> MfaStatus:
    return await devices.status(ctx)


@routes.post(
    "/setup", requires=SIGNED_IN, idempotent=False, errors=(StepUpRequired, TooManyDevices, VaultSealed)
)
async def set_up_mfa(ctx: Context, body: MfaSetupRequest) -> MfaSetup:
    """A new authenticator and new recovery codes, both good as soon as it is enabled."""
    return await devices.set_up(ctx, body)


@routes.post("/enable", requires=SIGNED_IN, idempotent=False, errors=(MfaNotSetUp, VaultSealed))
async def enable_mfa(ctx: Context, body: MfaCode) -> MfaEnabledOut:
    count = await devices.enable(ctx, body.code)
    return MfaEnabledOut(message="Signing in takes a code from now on.", recovery_codes_count=count)


@routes.post("/disable", requires=SIGNED_IN, idempotent=False, errors=(MfaNotEnabled, VaultSealed))
async def disable_mfa(ctx: Context, body: MfaCode) -> Message:
    await devices.disable(ctx, body.code)
    return Message(message="Signing in takes no code any more.")


@routes.post("/verify", requires=SIGNED_IN, idempotent=False, errors=(VaultSealed,))
async def verify_mfa_code(ctx: Context, body: MfaCode) -> MfaValidity:
    """Whether an authenticator shows this code now; it is not used up. Recovery codes are not tried."""
    return MfaValidity(valid=await codes.is_current(ctx, body.code))


@routes.get("/devices", requires=SIGNED_IN)
async def list_mfa_devices(ctx: Context) -> MfaDevices:
    return MfaDevices(devices=[MfaDeviceOut.of(device, type="totp") for device in await devices.active(ctx)])


@routes.delete(
    "/devices/{device_id}", requires=SIGNED_IN, errors=(DeviceNotFound, StepUpRequired, VaultSealed)
)
async def remove_mfa_device(ctx: Context, device_id: str, body: StepUp) -> Message:
    await devices.remove(ctx, device_id, body)
    return Message(message="The device is removed.")


@routes.post(
    "/recovery-codes",
    requires=SIGNED_IN,
    idempotent=False,
    errors=(MfaNotEnabled, StepUpRequired, VaultSealed),
)
async def renew_recovery_codes(ctx: Context, body: StepUp) -> RecoveryCodes:
    fresh = await devices.renew_recovery_codes(ctx, body)
    return RecoveryCodes(
        recovery_codes=fresh,
        message="Keep these codes in a safe place; the earlier ones are no longer valid.",
    )
