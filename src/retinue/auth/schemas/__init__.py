"""The public shapes of signing in; each file has those of one concern."""

from retinue.auth.schemas.sign_in import (
    Credentials,
    MfaRequired,
    Password,
    RefreshRequest,
    SignedIn,
    SignedInUser,
    Tokens,
)

__all__ = [
    "Credentials",
    "MfaRequired",
    "Password",
    "RefreshRequest",
    "SignedIn",
    "SignedInUser",
    "Tokens",
]
