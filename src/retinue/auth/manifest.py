from retinue.auth.events import (
    EmailVerified,
    LoggedIn,
    LoggedOut,
    LoginFailed,
    OtherSessionsEnded,
    PasswordChanged,
    PasswordResetLinkPrinted,
    PasswordResetRequested,
    RefreshTokenReused,
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
from retinue.auth.models import MfaChallenge, MfaDevice, OneTimeToken, RecoveryCode, RefreshToken, Session
from retinue.auth.principals import authenticate
from retinue.auth.routes import ROUTES
from retinue.kit.context.manifest import Authenticator, Manifest

manifest = Manifest(
    name="auth",
    records=(Session, RefreshToken, OneTimeToken, MfaDevice, RecoveryCode, MfaChallenge),
    routes=ROUTES,
    events=(
        LoginFailed,
        RefreshTokenReused,
        LoggedIn,
        LoggedOut,
        OtherSessionsEnded,
        EmailVerified,
        PasswordResetRequested,
        PasswordResetLinkPrinted,
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
)
