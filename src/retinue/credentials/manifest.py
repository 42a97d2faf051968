from retinue.credentials.events import (
    CredentialAccessGranted,
    CredentialAccessRefused,
    CredentialAccessRevoked,
    CredentialCreated,
    CredentialDeleted,
    CredentialDestinationAdded,
    CredentialExpired,
    CredentialExpiring,
    CredentialRefreshed,
    CredentialRefreshFailed,
    CredentialRevealed,
    CredentialSecretsUpdated,
    CredentialTested,
    CredentialUpdated,
    CredentialUsed,
)
from retinue.credentials.jobs import announce_expiries, renew_token, renew_tokens
from retinue.credentials.models import AccessRule, Credential
from retinue.credentials.routes import routes
from retinue.kit.manifest import Manifest

manifest = Manifest(
    name="credentials",
    records=(Credential, AccessRule),
    routes=(routes,),
    jobs=(renew_tokens, renew_token, announce_expiries),
    events=(
        CredentialCreated,
        CredentialUpdated,
        CredentialSecretsUpdated,
        CredentialDeleted,
        CredentialRevealed,
        CredentialUsed,
        CredentialAccessRefused,
        CredentialTested,
        CredentialRefreshed,
        CredentialRefreshFailed,
        CredentialAccessGranted,
        CredentialAccessRevoked,
        CredentialDestinationAdded,
        CredentialExpiring,
        CredentialExpired,
    ),
)
