from retinue.auth.events import (
    EmailVerified,
    LoggedIn,
    LoggedOut,
    LoginFailed,
    OtherSessionsEnded,
    PasswordChanged,
    PasswordResetLinkIssued,
    PasswordResetLinkPrinted,
    PasswordResetRequested,
    RefreshTokenReused,
    SessionRevoked,
    TenantActedIn,
)
from retinue.auth.jobs import JOBS
from retinue.auth.mfa.events import (
    MfaCodeRefused,
    MfaDeviceAdded,
    MfaDeviceRemoved,
    MfaDisabled,
    MfaEnabled,
    RecoveryCodesLow,
    RecoveryCodesRenewed,
    RecoveryCodeUsed,
)
from retinue.auth.models import (
    InstanceSetup,
    MfaChallenge,
    MfaDevice,
    OneTimeToken,
    RecoveryCode,
    RefreshToken,
    Session,
)
from retinue.auth.principals import TenantReaders, authenticate
from retinue.auth.routes import ROUTES
from retinue.kit.context.manifest import Authenticator, Manifest
from retinue.kit.context.process_state import ProcessState

manifest = Manifest(
    name="auth",
    records=(Session, RefreshToken, OneTimeToken, MfaDevice, RecoveryCode, MfaChallenge, InstanceSetup),
    routes=ROUTES,
    events=(
        LoginFailed,
        RefreshTokenReused,
        LoggedIn,
        LoggedOut,
        OtherSessionsEnded,
        SessionRevoked,
        EmailVerified,
        PasswordResetRequested,
        PasswordResetLinkPrinted,
        PasswordResetLinkIssued,
        PasswordChanged,
        TenantActedIn,
        MfaEnabled,
        MfaDisabled,
        MfaDeviceAdded,
        MfaDeviceRemoved,
        MfaCodeRefused,
        RecoveryCodesRenewed,
        RecoveryCodeUsed,
        RecoveryCodesLow,
    ),
    jobs=JOBS,
    authenticators=(Authenticator("user", authenticate),),
    process_state=(ProcessState(TenantReaders, lambda _: TenantReaders()),),
)
