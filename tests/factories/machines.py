"""Service accounts made through the real routes, and their tokens from the real token endpoint."""

import base64
from typing import Any
from urllib.parse import quote

from tests.client import Api, Response

PATH = "/api/v1/service-accounts"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def make_account(api: Api, *permissions: str, **more: Any) -> dict[str, Any]:
    body = {"name": "Deployment", "permissions": list(permissions) or ["agents:read"], **more}
    answer = await api.post(PATH, body)
    assert answer.status == 201, answer
    return answer.json()


async def make_secret(api: Api, account: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await api.post(f"{PATH}/{account['id']}/secrets", more)
    assert answer.status == 201, answer
    return answer.json()


async def ask_token(api: Api, secret: dict[str, Any], **more: str) -> Response:
    body = {"grant_type": "client_credentials", **_proof(secret), **more}
    return await Api(api.app, ip=api.ip).post("/auth/token", body)


async def token_of(api: Api, secret: dict[str, Any], **more: str) -> str:
    answer = await ask_token(api, secret, **more)
    assert answer.status == 200, answer
    return answer.json()["access_token"]


def _proof(secret: dict[str, Any]) -> dict[str, str]:
    return {"client_id": secret["client_id"], "client_secret": secret["client_secret"]}


def basic_header(secret: dict[str, Any]) -> dict[str, str]:
    """The secret as `client_secret_basic` sends it."""
    pair = f"{quote(secret['client_id'], safe='')}:{quote(secret['client_secret'], safe='')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def machine(api: Api, *permissions: str, **more: Any) -> Api:
    """A machine with these permissions, made by the caller, and its token."""
    account = await make_account(api, *permissions, **more)
    secret = await make_secret(api, account)
    signed_in = api.signed_in(await token_of(api, secret))
    signed_in.user = account
    return signed_in
