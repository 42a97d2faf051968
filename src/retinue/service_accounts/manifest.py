from retinue.kit.context.manifest import Manifest
from retinue.kit.context.search_sources import SearchSource
from retinue.service_accounts.events import (
    ServiceAccountCreated,
    ServiceAccountDeleted,
    ServiceAccountSecretCreated,
    ServiceAccountSecretDeleted,
    ServiceAccountUpdated,
    TokenIssued,
    TokenRefused,
)
from retinue.service_accounts.jobs import JOBS
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret, TokenRefusals
from retinue.service_accounts.routes import routes, token_routes

manifest = Manifest(
    name="service_accounts",
    records=(ServiceAccount, ServiceAccountSecret, TokenRefusals),
    routes=(routes, token_routes),
    events=(
        ServiceAccountCreated,
        ServiceAccountUpdated,
        ServiceAccountDeleted,
        ServiceAccountSecretCreated,
        ServiceAccountSecretDeleted,
        TokenIssued,
        TokenRefused,
    ),
    jobs=JOBS,
    search_sources=(
        SearchSource(
            kind="service_account",
            requires="service_accounts:read",
            record=ServiceAccount,
            name=ServiceAccount.__table__.c.name,
            description=ServiceAccount.__table__.c.description,
        ),
    ),
)
