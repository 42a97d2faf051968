from retinue.kit.events.declare import Event, event

_EXAMPLE = {"service_account_id": "sac_…", "name": "Deployment"}
_SECRET = {**_EXAMPLE, "secret_id": "scs_…", "secret_prefix": "rcs_Zt4v9QxA"}


class ServiceAccountEvent(Event, kw_only=True):
    """The name is stored with the event, so that it can be shown after the account is deleted."""

    service_account_id: str
    name: str


@event(
    "system.service_account.created",
    subject="service_account_id",
    audited=True,
    example={**_EXAMPLE, "permissions": ["workflows:execute"]},
)
class ServiceAccountCreated(ServiceAccountEvent, kw_only=True):
    """A service account was created."""

    permissions: list[str]


@event(
    "system.service_account.updated",
    subject="service_account_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["permissions"], "granted": ["agents:read"], "withdrawn": []},
)
class ServiceAccountUpdated(ServiceAccountEvent, kw_only=True):
    """A service account was changed; `changed` names the fields."""

    changed: list[str]
    granted: list[str]
    withdrawn: list[str]


@event("system.service_account.deleted", subject="service_account_id", audited=True, example=_EXAMPLE)
class ServiceAccountDeleted(ServiceAccountEvent, kw_only=True):
    """A service account was deleted, with its secrets."""


@event(
    "system.service_account.secret_created",
    subject="service_account_id",
    audited=True,
    example={**_SECRET, "expires_at": "2027-02-13T08:30:00.000000Z"},
)
class ServiceAccountSecretCreated(ServiceAccountEvent, kw_only=True):
    """A secret of a service account was created."""

    secret_id: str
    secret_prefix: str
    expires_at: str


@event("system.service_account.secret_deleted", subject="service_account_id", audited=True, example=_SECRET)
class ServiceAccountSecretDeleted(ServiceAccountEvent, kw_only=True):
    """A secret of a service account was deleted; tokens that it yielded stopped working."""

    secret_id: str
    secret_prefix: str


@event("auth.token_issued", subject="service_account_id", audited=True, listed=False)
class TokenIssued(ServiceAccountEvent, kw_only=True):
    """A service account got an access token; recorded once per secret and hour."""

    secret_id: str
    grant: str
    scope: str


@event("auth.token_refused", subject="service_account_id", audited=True, listed=False)
class TokenRefused(ServiceAccountEvent, kw_only=True):
    """Somebody asked for a token of a service account in vain.

    An account has at most one such row per reason and hour: the first refusal is recorded at once, what
    follows within the hour is counted and recorded together when it is over. `count` is how many refusals
    the row stands for, `since` the time of the first of them.
    """

    error: str
    reason: str
    count: int = 1
    since: str = ""
