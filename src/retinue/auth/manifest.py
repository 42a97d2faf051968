from retinue.auth.events import LoggedIn, LoggedOut, LoginFailed, RefreshTokenReused
from retinue.auth.models import MfaChallenge, MfaDevice, OneTimeToken, RecoveryCode, RefreshToken, Session
from retinue.auth.routes import ROUTES
from retinue.kit.manifest import Manifest

manifest = Manifest(
    name="auth",
    records=(Session, RefreshToken, OneTimeToken, MfaDevice, RecoveryCode, MfaChallenge),
    routes=ROUTES,
    events=(LoginFailed, RefreshTokenReused, LoggedIn, LoggedOut),
)
