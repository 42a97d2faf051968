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
from retinue.credentials.jobs import JOBS
from retinue.credentials.models import AccessRule, Credential
from retinue.credentials.routes import routes
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.search_sources import SearchSource

manifest = Manifest(
    name="credentials",
    records=(Credential, AccessRule),
    routes=(routes,),
    jobs=JOBS,
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
    search_sources=(
        SearchSource(
            kind="credential",
            requires="credentials:read",
            record=Credential,
            name=Credential.__table__.c.name,
            description=Credential.__table__.c.description,
        ),
    ),
)
