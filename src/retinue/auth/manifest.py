from retinue.auth.email_verification import prepare_verification
from retinue.auth.events import (
    EmailVerified,
    LoggedIn,
    LoggedOut,
    LoginFailed,
    OtherSessionsEnded,
    PasswordChanged,
    PasswordResetRequested,
    RefreshTokenReused,
    TenantActedIn,
)
from retinue.auth.jobs import sweep_sign_ins
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
from retinue.auth.password_change import prepare_password_reset
from retinue.auth.principals import authenticate
from retinue.auth.routes import ROUTES
from retinue.auth.sign_in import record_failed_login
from retinue.kit.manifest import Authenticator, Manifest

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
    jobs=(record_failed_login, prepare_verification, prepare_password_reset, sweep_sign_ins),
    authenticators=(Authenticator("user", authenticate),),
)
