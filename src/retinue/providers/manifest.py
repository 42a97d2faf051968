from retinue.credentials.events import CredentialSecretsUpdated
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.events.declare import Listener
from retinue.providers.circuit_breakers import CircuitBreakers
from retinue.providers.events import ApiKeyCreated, ApiKeyDeleted, ApiKeyInvalidated, ApiKeyUpdated
from retinue.providers.job_kinds import FOLLOW_CREDENTIAL
from retinue.providers.jobs import JOBS
from retinue.providers.models import ProviderKey
from retinue.providers.response_formats import RefusedFormats
from retinue.providers.routes import models, routes
from retinue.providers.service import detach_credential, find_users_of_credential

manifest = Manifest(
    name="providers",
    records=(ProviderKey,),
    routes=(routes, models),
    events=(ApiKeyCreated, ApiKeyUpdated, ApiKeyDeleted, ApiKeyInvalidated),
    jobs=JOBS,
    listeners=(Listener(CredentialSecretsUpdated.__event__.name, FOLLOW_CREDENTIAL),),
    references=(
        Reference(to="credential", kind="api_keys", find=find_users_of_credential, detach=detach_credential),
    ),
    process_state=(
        ProcessState(CircuitBreakers, lambda instance: CircuitBreakers(peers=instance.peers)),
        ProcessState(RefusedFormats, lambda _: RefusedFormats()),
    ),
)
