"""R4: whatever is sent, the answer is one that the OpenAPI document declares, and never our fault."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from retinue.auth.models import Session
from retinue.kit.context import Context
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Route
from retinue.workflows import executions
from retinue.workflows.engine.watchers import wait_until_ended
from retinue.workflows.models import WorkflowExecution
from tests.client import Api
from tests.contract.fuzzing import Fuzzer, boundary_cases, operation_of, random_cases
from tests.contract.knowledge import FAR
from tests.contract.routes import NOT_PUBLIC, ROUTES, groups, label
from tests.contract.world import known_ids
from tests.factories.embed_keys import embed_key_of
from tests.sampling import sample_cases

IS_PUBLIC = [route for route in ROUTES if route.requires is PUBLIC]
READING = [route for route in ROUTES if route.method == "GET"]
WRITING = [route for route in ROUTES if route.method != "GET"]
# A caller of these may wait for the execution, for up to a minute.
WITHOUT_WAIT = [route for route in WRITING if route.name not in {"execute_workflow", "try_workflow_node"}]
NO_SESSION = {"missing_token", "invalid_token", "session_ended"}
FEW = 2
MANY = 200
MOST_BOUNDARIES = 5
# What a caller who is not signed in sends is hardly looked at.
REFUSED_BOUNDARIES = 2


class Administrator:
    """The super administrator with no limits, signed in anew as often as the fuzzer ends the session."""

    def __init__(self, people: Any, service: Any, admin: Api) -> None:
        self._people = people
        self._tokens = service.instance.tokens
        self._admin = admin

    async def api(self) -> Api:
        user = self._admin.user
        async with self._people.context(user.tenant_id) as ctx:
            session = await ctx.db.insert(Session(user_id=user.id, expires_at=FAR, last_used_at=FAR))
        return self._people.api.signed_in(
            self._tokens.issue("access", user.id, user.tenant_id, session.id, 900)
        )

    async def ids(self, *routes: Route) -> dict[str, list[str]]:
        """Create what the paths of these routes name."""
        wanted = {name for route in routes for name in route.parameters}
        return await known_ids(self._people, self._admin, wanted)

    async def fuzzer(self, route: Route, ids: dict[str, list[str]]) -> Fuzzer:
        if route.requires is EMBED_KEY:
            return Fuzzer(self._people.api.signed_in(embed_key_of(ids["agent_id"][0])), ids)
        return Fuzzer(await self.api(), ids)


@pytest.fixture
async def administrator(people, service, admin) -> Administrator:
    unlimited = {"requests_per_minute": None, "requests_per_hour": None, "requests_per_day": None}
    answer = await admin.put(f"/api/v1/tenants/{admin.user.tenant_id}", {"limits": unlimited})
    assert answer.status == 200
    return Administrator(people, service, admin)


async def fuzz(
    fuzzer: Fuzzer, route: Route, count: int, renew: Any = None, *, most_boundaries: int = MOST_BOUNDARIES
) -> None:
    operation = operation_of(route.method, route.path)
    boundaries = list(boundary_cases(operation))
    if count < MANY:
        boundaries = boundaries[:: -(-len(boundaries) // most_boundaries) or 1]
    cases = [*boundaries, *(random_cases(operation, count) if count else ())]
    for case in cases:
        answer = await fuzzer.send(case)
        if renew is not None and answer.status < 300 and route.method != "GET":
            fuzzer.api = await renew()
    problems = fuzzer.problems
    assert not problems, f"{len(problems)} of {len(cases)}:\n\n" + "\n\n".join(problems[:5])


async def fuzz_as_administrator(administrator: Administrator, *routes: Route, count: int) -> None:
    ids = await administrator.ids(*routes)
    for route in routes:
        fuzzer = await administrator.fuzzer(route, ids)
        await fuzz(fuzzer, route, count, administrator.api if route.requires is not EMBED_KEY else None)
        assert not NO_SESSION & set(fuzzer.reasons), f"the session ended under the fuzzer: {label(route)}"


# Filters and pages become part of statements, and PostgreSQL refuses values that SQLite takes.
@pytest.mark.every_case
@groups(READING, size=20)
async def test_the_administrator_always_reads_a_declared_answer(administrator, routes: list[Route]) -> None:
    await fuzz_as_administrator(administrator, *routes, count=FEW)


@pytest.mark.parametrize("route", sample_cases(WRITING, keep=WITHOUT_WAIT), ids=label)
async def test_the_administrator_always_gets_a_declared_answer(administrator, route: Route) -> None:
    await fuzz_as_administrator(administrator, route, count=FEW)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES, ids=label)
async def test_the_administrator_gets_a_declared_answer_many_times(
    administrator, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody works on the executions here, so hundreds of callers would wait for a minute each.
    monkeypatch.setattr(executions, "wait_until_ended", _hardly_wait)
    await fuzz_as_administrator(administrator, route, count=MANY)


async def _hardly_wait(ctx: Context, execution_id: str, _seconds: float) -> WorkflowExecution | None:
    return await wait_until_ended(ctx, execution_id, 0.01)


@pytest.mark.either_database
async def test_nobody_gets_nothing_but_a_declared_refusal(api) -> None:
    for route in NOT_PUBLIC:
        fuzzer = Fuzzer(api)
        await fuzz(fuzzer, route, 0, most_boundaries=REFUSED_BOUNDARIES)
        assert set(fuzzer.statuses) <= {204, 401, 405}, (label(route), fuzzer.statuses)


async def test_nobody_always_gets_a_declared_answer_where_anyone_may_ask(api) -> None:
    for route in IS_PUBLIC:
        await fuzz(Fuzzer(api), route, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("route", IS_PUBLIC, ids=label)
async def test_nobody_gets_a_declared_answer_many_times(api, route: Route) -> None:
    await fuzz(Fuzzer(api), route, MANY)


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
async def test_the_fuzzer_notices(administrator, change) -> None:
    (route,) = (route for route in ROUTES if route.name == "get_role_permissions")
    fuzzer = await administrator.fuzzer(route, await administrator.ids(route))
    fuzzer.api.app = Tampering(fuzzer.api.app, change)
    with pytest.raises(AssertionError, match=r"\d of \d"):
        await fuzz(fuzzer, route, 0)
