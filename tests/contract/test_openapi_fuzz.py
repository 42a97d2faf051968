"""R4: whatever is sent, the answer is one that the OpenAPI document declares, and never our fault."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from retinue.access.models import Role
from retinue.auth.models import Session
from retinue.kit.http.routing import PUBLIC, Route
from retinue.users.models import Invitation
from tests.client import Api
from tests.contract.fuzzing import Fuzzer, boundary_cases, operation_of, random_cases
from tests.contract.routes import ROUTES, label

FAR = "2999-01-01T00:00:00.000000Z"
NO_SESSION = {"missing_token", "invalid_token", "session_ended"}
FEW = 8
MANY = 300


class Administrator:
    """The super administrator with no limits, signed in anew as often as the fuzzer ends the session."""

    def __init__(self, people: Any, service: Any, admin: Api) -> None:
        self._people = people
        self._tokens = service.instance.tokens
        self._user = admin.user

    async def api(self) -> Api:
        user = self._user
        async with self._people.context(user.tenant_id) as ctx:
            session = await ctx.db.insert(Session(user_id=user.id, expires_at=FAR, last_used_at=FAR))
        return self._people.api.signed_in(
            self._tokens.issue("access", user.id, user.tenant_id, session.id, 900)
        )


@pytest.fixture
async def administrator(people, service, admin) -> Administrator:
    unlimited = {"requests_per_minute": None, "requests_per_hour": None, "requests_per_day": None}
    answer = await admin.put(f"/api/v1/tenants/{admin.user.tenant_id}", {"limits": unlimited})
    assert answer.status == 200
    return Administrator(people, service, admin)


@pytest.fixture
async def known_ids(people, admin) -> dict[str, list[str]]:
    """Some of everything that a path can name."""
    tenant = await people.tenant("Other")
    users = [await people.user(Role.viewer, tenant) for _ in range(4)]
    async with people.context(admin.user.tenant_id) as ctx:
        sessions = [
            await ctx.db.insert(Session(user_id=admin.user.id, expires_at=FAR, last_used_at=FAR))
            for _ in range(4)
        ]
        invitations = [
            await ctx.db.insert(
                Invitation(
                    email=f"guest{number}@example.com",
                    role=Role.viewer,
                    token_hash=str(number),
                    invited_by=admin.user.id,
                    expires_at=FAR,
                )
            )
            for number in range(4)
        ]
    return {
        "user_id": [user.id for user in users],
        "session_id": [session.id for session in sessions],
        "invitation_id": [invitation.id for invitation in invitations],
        "tenant_id": [tenant.id],
        "role": list(Role),
        "asset": ["reference.js", "reference.css"],
    }


async def fuzz(fuzzer: Fuzzer, route: Route, count: int, renew: Any = None) -> None:
    operation = operation_of(route.method, route.path)
    cases = [*boundary_cases(operation), *(random_cases(operation, count) if count else ())]
    for case in cases:
        answer = await fuzzer.send(case)
        if renew is not None and answer.status < 300 and route.method != "GET":
            fuzzer.api = await renew()
    assert not fuzzer.problems, f"{len(fuzzer.problems)} of {len(cases)}:\n\n" + "\n\n".join(
        fuzzer.problems[:5]
    )


async def fuzz_as_administrator(administrator, known_ids, route: Route, count: int) -> None:
    fuzzer = Fuzzer(await administrator.api(), known_ids)
    await fuzz(fuzzer, route, count, administrator.api)
    assert not NO_SESSION & set(fuzzer.reasons), "the session ended under the fuzzer"


async def fuzz_as_nobody(api, route: Route, count: int) -> None:
    fuzzer = Fuzzer(api)
    await fuzz(fuzzer, route, count if route.requires is PUBLIC else 0)
    assert route.requires is PUBLIC or set(fuzzer.statuses) <= {401, 405, 204}, fuzzer.statuses


@pytest.mark.parametrize("route", ROUTES, ids=label)
async def test_the_administrator_always_gets_a_declared_answer(
    administrator, known_ids, route: Route
) -> None:
    await fuzz_as_administrator(administrator, known_ids, route, FEW)


@pytest.mark.parametrize("route", ROUTES, ids=label)
async def test_nobody_always_gets_a_declared_answer(api, route: Route) -> None:
    await fuzz_as_nobody(api, route, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES, ids=label)
async def test_the_administrator_gets_a_declared_answer_many_times(
    administrator, known_ids, route: Route
) -> None:
    await fuzz_as_administrator(administrator, known_ids, route, MANY)


@pytest.mark.slow
@pytest.mark.parametrize("route", [route for route in ROUTES if route.requires is PUBLIC], ids=label)
async def test_nobody_gets_a_declared_answer_many_times(api, route: Route) -> None:
    await fuzz_as_nobody(api, route, MANY)


class Tampering:
    """The application with one thing about its answers changed, to show that the fuzzer would notice."""

    def __init__(self, app: Any, change: Callable[[int, dict[str, Any]], tuple[int, Any]]) -> None:
        self._app = app
        self._change = change

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        messages: list[Any] = []

        async def keep(message: Any) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        start, body = messages
        status, content = self._change(start["status"], msgspec.json.decode(body["body"] or b"{}"))
        encoded = msgspec.json.encode(content)
        headers = [header for header in start["headers"] if header[0] != b"content-length"]
        headers.append((b"content-length", b"%d" % len(encoded)))
        await send({**start, "status": status, "headers": headers})
        await send({**body, "body": encoded})


def _only_good(change: Callable[[dict[str, Any]], Any]) -> Any:
    return lambda status, content: (status, change(content) if status == 200 else content)


TAMPERED = {
    "a fault of ours": lambda _, content: (500, content),
    "an undeclared status": lambda _, content: (418, {"error": {"code": "teapot", "message": "No."}}),
    "an undeclared key": _only_good(lambda content: {**content, "password_hash": "x"}),
    "a missing key": _only_good(lambda content: {key: content[key] for key in content if key != "role"}),
    "a key of another type": _only_good(lambda content: {**content, "permissions": "x"}),
    "an error without the envelope": lambda status, content: (
        status,
        content if status < 400 else {"detail": "no"},
    ),
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
async def test_the_fuzzer_notices(administrator, known_ids, change) -> None:
    caller = await administrator.api()
    caller.app = Tampering(caller.app, change)
    (route,) = (route for route in ROUTES if route.name == "get_role_permissions")
    with pytest.raises(AssertionError, match=r"\d of \d"):
        await fuzz(Fuzzer(caller, known_ids), route, 0)
