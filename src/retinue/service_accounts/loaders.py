from typing import Annotated

from retinue.kit.http.routing import path_loader
from retinue.service_accounts.errors import SecretNotFound, ServiceAccountNotFound
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret

ServiceAccountById = Annotated[
    ServiceAccount, path_loader(ServiceAccount, "service_account_id", ServiceAccountNotFound)
]
SecretById = Annotated[ServiceAccountSecret, path_loader(ServiceAccountSecret, "secret_id", SecretNotFound)]
