"""The tenant of a service account on a remote server, through its API."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from retinue.kit.egress import Egress
from retinue.kit.errors import Forbidden, Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.settings import LOOPBACK, BadSetting, Settings
from retinue.tenant_file.schemas import PlannedObject, PlanRequest, TenantPlan

_TIMEOUT_SECONDS = 120.0
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

T = TypeVar("T")
Announce = Callable[[Sequence[PlannedObject]], None]


class RemoteRefused(RetinueError):
    """The server refused the request."""

    status, code = 400, "remote_refused"


class RemoteTenant:
    """Signs in with `RETINUE_CLIENT_ID` and `RETINUE_CLIENT_SECRET`; each command signs in once."""

    def __init__(self, settings: Settings, url: str) -> None:
        address = urlsplit(url)
        if (
            address.scheme not in {"http", "https"}
            or not address.hostname
            or address.query
            or address.fragment
        ):
            raise BadSetting("--remote must be an address such as https://retinue.example.com")
        if address.scheme == "http" and address.hostname not in _LOCAL_HOSTS:
            raise BadSetting("--remote must be https: the secret of the service account is sent there")
        if not settings.client_id or settings.client_secret is None:
            raise BadSetting("set RETINUE_CLIENT_ID and RETINUE_CLIENT_SECRET for --remote")
        self._settings = settings
        self._url = url.rstrip("/")
        # Whoever runs the command chose the server, which may well be on a private network.
        self._allowed = [*LOOPBACK, address.hostname]
        self._client = (settings.client_id, settings.client_secret)

    def export(self, format: str, sections: str) -> str:
        query = urlencode({"format": format, **({"sections": sections} if sections else {})})

        async def call(egress: Egress, token: str) -> str:
            answer = await self._send(egress, "GET", f"/api/v1/tenant/export?{query}", token)
            return answer.decode()

        return self._run(call)

    def plan(self, request: PlanRequest, announce: Announce, *, is_agreed: bool) -> TenantPlan:
        """Return the plan; if it is agreed to, apply it after `announce`."""

        async def call(egress: Egress, token: str) -> TenantPlan:
            body = {"document": request.document, "prune": request.prune}
            answer = await self._send(egress, "POST", "/api/v1/tenant/plan", token, body)
            plan: TenantPlan = _decode(answer, TenantPlan)
            announce(plan.changes)
            if is_agreed:
                agreed = {**body, "plan_hash": plan.plan_hash}
                await self._send(egress, "POST", "/api/v1/tenant/apply", token, agreed)
            return plan

        return self._run(call)

    def _run(self, call: Callable[[Egress, str], Awaitable[T]]) -> T:
        async def run() -> T:
            async with Egress.from_settings(self._settings, self._allowed) as egress:
                return await call(egress, await self._sign_in(egress))

        return asyncio.run(run())

    async def _sign_in(self, egress: Egress) -> str:
        client_id, secret = self._client
        body = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": secret.reveal(),
        }
        answer = _decode(await self._send(egress, "POST", "/auth/token", "", body), JsonObject)
        return str(answer.get("access_token", ""))

    async def _send(
        self, egress: Egress, method: str, path: str, token: str, body: JsonObject | None = None
    ) -> bytes:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = msgspec.json.encode(body)
        async with egress.request(
            method,
            f"{self._url}{path}",
            timeout_s=_TIMEOUT_SECONDS,
            stall_timeout_s=_TIMEOUT_SECONDS,
            headers=headers,
            content=content,
            max_bytes=_MAX_ANSWER_BYTES,
        ) as response:
            answer = await response.read()
            if response.status >= 300:
                raise _refusal(response.status, answer)
        return answer


def _decode(answer: bytes, shape: Any) -> Any:
    try:
        return msgspec.json.decode(answer, type=shape)
    except msgspec.MsgspecError:
        raise RemoteRefused("The answer is not that of a Retinue server.") from None


def _refusal(status: int, answer: bytes) -> RetinueError:
    """Return the error that the server answered with, as it would be raised here."""
    try:
        content = msgspec.json.decode(answer)
        error = content["error"]
        if isinstance(error, str):
            return RemoteRefused(f"{error}: {content.get('error_description', '')}")
        details = error.get("details") or {}
        if status == 422 and details:
            return Invalid({str(path): str(problem) for path, problem in details.items()}, error["message"])
        if status == 403:
            return Forbidden(
                details.get("required", ""), details.get("your_role", ""), message=error["message"]
            )
        return RemoteRefused(f"{error['message']} ({error['code']})")
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError):
        return RemoteRefused(f"The server answered with the status {status}.")
