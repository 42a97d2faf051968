"""Credentials of every type, made through the real route; each secret of theirs is a canary."""

from typing import Any

from retinue.credentials.models import AccessRule, Credential, CredentialType, IntegrationType
from retinue.credentials.sealed_secrets import sealed_columns
from tests.client import Api, Response

# No end of a canary: at most the last four characters of a secret are shown.
CANARY = "CANARY-7f3a9c51e8"
PRIVATE_KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}b3BlbnNzaA\n-----END OPENSSH PRIVATE KEY-----\n"

SECRETS: dict[str, dict[str, Any]] = {
    "api_key": {"api_key": f"sk-{CANARY}-api-key-0123456789"},
    "oauth2": {
        "client_id": "client-1",
        "client_secret": f"{CANARY}-client-secret",
        "access_token": f"{CANARY}-access-token",
        "refresh_token": f"{CANARY}-refresh-token",
        "token_url": "https://login.example.com/token",
        "scopes": ["read", "write"],
    },
    "basic_auth": {"username": "ada", "password": f"{CANARY}-password-1"},
    "bearer_token": {"token": f"{CANARY}-bearer-token"},
    "database": {
        "host": "db.example.com",
        "port": 5432,
        "database": "shop",
        "username": "shop",
        "password": f"{CANARY}-password-2",
        "ssl_mode": "require",
    },
    "ssh": {"host": "ssh.example.com", "username": "deploy", "private_key": PRIVATE_KEY},
    "smtp": {"host": "mail.example.com", "username": "robot", "password": f"{CANARY}-password-3"},
    "custom": {"anything": f"{CANARY}-one", "nested": {"deeper": [f"{CANARY}-two"]}},
}

PATH = "/v1/credentials"


def some_credential(user_id: str, name: str = "Key", **more: Any) -> Credential:
    """A record to insert where no route is in between."""
    given: dict[str, Any] = {**sealed_columns(SECRETS["api_key"]), "metadata": {}, "destinations": [], **more}
    return Credential(name=name, type=CredentialType.api_key, created_by=user_id, entered_by=user_id, **given)


def some_rule(credential: Credential) -> AccessRule:
    return AccessRule(
        credential_id=credential.id,
        integration_type=IntegrationType.tool,
        integration_id="tool_1",
        granted_by=credential.created_by,
    )


def body_of(type: str = "api_key", **more: Any) -> dict[str, Any]:
    return {"name": f"My {type}", "type": type, "secrets": SECRETS[type], **more}


async def create(person: Api, type: str = "api_key", **more: Any) -> dict[str, Any]:
    answer = await person.post(PATH, body_of(type, **more))
    assert answer.status == 201, answer
    return answer.json()["data"]


async def get(person: Api, id: str) -> dict[str, Any]:
    answer = await person.get(f"{PATH}/{id}")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def reveal(person: Api, id: str) -> dict[str, Any]:
    answer = await person.get(f"{PATH}/{id}/reveal")
    assert answer.status == 200, answer
    return answer.json()["data"]["secrets"]


async def grant(person: Api, id: str, type: str, integration_id: str, **more: Any) -> Response:
    body = {"integration_type": type, "integration_id": integration_id, **more}
    return await person.post(f"{PATH}/{id}/access", body)


async def trail(person: Api, id: str = "", **query: Any) -> list[dict[str, Any]]:
    """The audit records, the oldest first."""
    answer = await person.get(f"{PATH}/{id}/audit" if id else f"{PATH}/audit", query=query)
    assert answer.status == 200, answer
    return answer.json()["data"][::-1]


async def actions(person: Api, id: str) -> list[str]:
    return [record["action"] for record in await trail(person, id)]


async def run_test(person: Api, made: dict[str, Any]) -> dict[str, Any]:
    """Test the credential; return the result."""
    answer = await person.post(f"{PATH}/{made['id']}/test")
    assert answer.status == 200, answer
    result = answer.json()["data"]
    assert set(result) == {"success", "is_valid", "message", "checked", "latency_ms", "tested_at", "error"}
    assert result["is_valid"] is result["success"] is (result["error"] is None)
    return result


async def run_failing_test(person: Api, made: dict[str, Any]) -> tuple[str, str]:
    """Test a credential that fails; return what was checked and the error code."""
    result = await run_test(person, made)
    assert result["message"] == result["error"]["message"]
    return result["checked"], result["error"]["code"]
