from retinue.access.catalogue import PEOPLE_ONLY, PERMISSION_KEYS
from retinue.access.errors import PermissionAboveYours
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import ANY_NAME, PUBLIC, Routes
from retinue.kit.lists import Page
from retinue.service_accounts import service as accounts
from retinue.service_accounts.errors import (
    InvalidBasicClient,
    InvalidClient,
    InvalidScope,
    InvalidTokenRequest,
    ServiceAccountNameTaken,
    TooManySecrets,
    TooManyTokenRequests,
    UnsupportedGrantType,
)
from retinue.service_accounts.loaders import SecretById, ServiceAccountById
from retinue.service_accounts.models import ServiceAccount
from retinue.service_accounts.schemas import (
    AuthorizationServer,
    IssuedToken,
    NewSecretOut,
    SecretCreate,
    SecretList,
    ServiceAccountCreate,
    ServiceAccountList,
    ServiceAccountOut,
    ServiceAccountUpdate,
)
from retinue.service_accounts.token_endpoint import issue_token
from retinue.service_accounts.token_requests import GRANT_TYPE

TOKEN_PATH = "/auth/token"  # noqa: S105  a path, not a token
_READ, _WRITE = "service_accounts:read", "service_accounts:write"

routes = Routes("/api/v1/service-accounts", tag="service accounts")
token_routes = Routes("", tag="service accounts")


@routes.get("", requires=_READ)
async def list_service_accounts(ctx: Context, query: ServiceAccountList) -> Page[ServiceAccountOut]:
    """List the service accounts of the tenant, newest first by default."""
    return await accounts.page(ctx, query)


@routes.post("", requires=_WRITE, status=201, errors=(PermissionAboveYours, ServiceAccountNameTaken))
async def create_service_account(ctx: Context, body: ServiceAccountCreate) -> ServiceAccountOut:
    """Create an account with which a machine calls this API. Create a secret for it next.

    It can hold only permissions that the caller holds (403 `permission_above_yours`), and never
    `admin:roles`, `admin:tenants` or `service_accounts:write` (422).
    """
    return await accounts.create(ctx, body)


@routes.get("/{service_account_id}", requires=_READ, versioned=ServiceAccount)
async def get_service_account(ctx: Context, account: ServiceAccountById) -> ServiceAccountOut:
    """Return one service account."""
    return accounts.show(ctx, account)


@routes.patch(
    "/{service_account_id}",
    requires=_WRITE,
    versioned=ServiceAccount,
    errors=(PermissionAboveYours, ServiceAccountNameTaken),
)
async def update_service_account(
    ctx: Context, account: ServiceAccountById, body: ServiceAccountUpdate
) -> ServiceAccountOut:
    """Change an account; it counts from the account's next request on, also for tokens already issued.

    Permissions can be added, and an account enabled or opened further, only by those who hold all of them.
    """
    return await accounts.update(ctx, account, body)


@routes.delete("/{service_account_id}", requires=_WRITE, status=204, versioned=ServiceAccount)
async def delete_service_account(ctx: Context, account: ServiceAccountById) -> None:
    """Delete an account with its secrets; its tokens stop working at once. What it created stays."""
    await accounts.delete(ctx, account)


@routes.get("/{service_account_id}/secrets", requires=_READ)
async def list_service_account_secrets(ctx: Context, account: ServiceAccountById) -> SecretList:
    """List the secrets of an account, oldest first, never with the secret itself."""
    return SecretList(data=await accounts.list_secrets(ctx, account))


@routes.post(
    "/{service_account_id}/secrets",
    requires=_WRITE,
    status=201,
    errors=(PermissionAboveYours, TooManySecrets, VaultSealed),
)
async def create_service_account_secret(
    ctx: Context, account: ServiceAccountById, body: SecretCreate
) -> NewSecretOut:
    """Create a secret for an account; the response shows it once.

    An account has at most two valid secrets (409 `too_many_secrets`), so that one can be replaced while the
    other still works. Secrets that have expired are removed. The caller must hold all of the account's
    permissions.
    """
    return await accounts.create_secret(ctx, account, body)


@routes.delete("/{service_account_id}/secrets/{secret_id}", requires=_WRITE, status=204)
async def delete_service_account_secret(
    ctx: Context, account: ServiceAccountById, secret: SecretById
) -> None:
    """Delete a secret; tokens that it yielded stop working at once."""
    await accounts.delete_secret(ctx, account, secret)


@token_routes.post(
    TOKEN_PATH,
    requires=PUBLIC,
    idempotent=False,
    # The client is looked up before the transaction that records the token.
    calls_out=True,
    over_limit=TooManyTokenRequests,
    # RFC 6749, section 3.2: unrecognized parameters must be ignored.
    reads_body=True,
    query_names=ANY_NAME,
    errors=(InvalidTokenRequest, InvalidClient, InvalidBasicClient, InvalidScope, UnsupportedGrantType),
)
async def issue_access_token(ctx: Context, request: Request) -> Reply[IssuedToken]:
    """Exchange the secret of a service account for an access token, as in RFC 6749, section 4.4.

    The body is a form or a JSON object: `grant_type=client_credentials`, and optionally `scope`, permission
    keys separated by blanks. The client's id and secret are sent as `Authorization: Basic` or as `client_id`
    and `client_secret` in the body. The token works for 900 seconds; there is no refresh token. Errors have
    the shape of RFC 6749, section 5.2. After five refusals of a client from one network address within 15
    minutes, or a hundred from the address: 429.
    """
    return Reply(await issue_token(ctx, request), headers=(("Pragma", "no-cache"),))


@token_routes.get("/.well-known/oauth-authorization-server", requires=PUBLIC, cost="free")
async def get_authorization_server(ctx: Context) -> AuthorizationServer:
    """Return where and how OAuth clients get tokens, as in RFC 8414."""
    base_url = ctx.settings.base_url
    return AuthorizationServer(
        issuer=base_url,
        token_endpoint=f"{base_url}{TOKEN_PATH}",
        response_types_supported=[],
        grant_types_supported=[GRANT_TYPE],
        token_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post"],
        scopes_supported=[key for key in PERMISSION_KEYS if key not in PEOPLE_ONLY],
    )
