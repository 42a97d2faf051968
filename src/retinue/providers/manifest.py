from retinue.credentials.events import CredentialSecretsUpdated
from retinue.kit.manifest import Listener, Manifest
from retinue.kit.references import Reference
from retinue.providers.events import ApiKeyCreated, ApiKeyDeleted, ApiKeyInvalidated, ApiKeyUpdated
from retinue.providers.jobs import follow_credential
from retinue.providers.models import ProviderKey
from retinue.providers.routes import models, routes
from retinue.providers.service import detach_credential, users_of_credential

manifest = Manifest(
    name="providers",
    records=(ProviderKey,),
    routes=(routes, models),
    events=(ApiKeyCreated, ApiKeyUpdated, ApiKeyDeleted, ApiKeyInvalidated),
    jobs=(follow_credential,),
    listeners=(Listener(CredentialSecretsUpdated.__event__.name, follow_credential),),
    references=(
        Reference(to="credential", kind="api_keys", find=users_of_credential, detach=detach_credential),
    ),
)
