"""Event streams through the whole pipeline and over a real connection."""

import asyncio
import functools

import pytest

from retinue.access.models import Role
from retinue.cli import serve_command as cli
from retinue.cli.serve_command import ServeCommand
from retinue.domains import DOMAINS
from retinue.kit.http.app import App
from retinue.users.models import UserStatus
from tests.client import Api
from tests.factories.people import PASSWORD
from tests.kit.idempotency import notes
from tests.kit.listening import StreamClient, listening
from tests.kit.planted import ANYONE, PATIENCE_S

STREAMS = "/planted/streams"
ERROR_MESSAGE = "Something went wrong on the server. Try again later."


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest), metrics=True)


@pytest.fixture
async def server(service):
    async with listening(service) as server:
        yield server


@pytest.fixture
async def endless(server, me, planted) -> StreamClient:
    """A stream that has begun and waits."""
    stream = await server.request("POST", f"{STREAMS}/endless", token=me.token)
    assert (await stream.next_event())[0] == "started"
    await planted.gate.somebody_waits()
    return stream


async def wait_until_closed(planted) -> None:
    await asyncio.wait_for(planted.stream_closed.wait(), PATIENCE_S)


async def test_events_come_with_the_headers_of_every_answer(server, me):
    stream = await server.request("POST", f"{STREAMS}/events", token=me.token)
    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    assert stream.headers["x-ratelimit-remaining"] == "11990"
    assert stream.headers["x-request-id"].startswith("req_")
    assert stream.headers["x-content-type-options"] == "nosniff"
    assert await stream.rest() == [("started", {"notes": 1}), ("ended", {})]


async def test_what_the_request_wrote_is_committed_before_the_first_byte(endless, people):
    """The producer counts in a unit of its own, and its first event says that it found the note."""
    assert await notes(people) == 2, "the request's, and the one of the stream's own unit"


async def test_an_open_stream_holds_no_transaction(endless, me, people):
    async with asyncio.timeout(PATIENCE_S):
        assert (await me.post("/planted/notes", {"name": "meanwhile"})).status == 201
    assert await notes(people) == 3


async def test_a_stream_beats_while_it_waits(server, me, monkeypatch):
    monkeypatch.setattr(App, "heartbeat_s", 0.02)
    stream = await server.request("POST", f"{STREAMS}/endless", token=me.token)
    frames = stream.frames()
    first = await anext(frames)
    # On a busy machine it beats before the first event is there.
    while first == ": ping":
        first = await anext(frames)
    assert first.startswith("event: started")
    assert [await anext(frames) for _ in range(3)] == [": ping"] * 3


@pytest.mark.parametrize(
    ("kind", "status", "error"),
    [
        ("refused", 409, {"code": "conflict", "message": "Not now."}),
        ("broken", 500, {"code": "internal_error", "message": ERROR_MESSAGE}),
        ("internal", 500, {"code": "internal_error", "message": ERROR_MESSAGE}),
    ],
)
async def test_what_fails_before_the_first_event_is_an_error_with_its_status(server, me, kind, status, error):
    answer = await server.request("POST", f"{STREAMS}/{kind}", token=me.token)
    assert (answer.status, await answer.json()) == (status, {"error": error})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-ratelimit-remaining"] == "11990"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("late_refusal", {"code": "conflict", "message": "No longer."}),
        ("late_failure", {"code": "internal_error", "message": ERROR_MESSAGE}),
        ("late_internal", {"code": "internal_error", "message": ERROR_MESSAGE}),
    ],
)
async def test_what_fails_after_the_first_event_is_an_event(server, me, kind, error):
    stream = await server.request("POST", f"{STREAMS}/{kind}", token=me.token)
    assert stream.status == 200
    assert await stream.rest() == [("started", {"notes": 1}), ("error", error)]


@pytest.mark.one_service("reads the metrics of one process")
async def test_each_stream_is_counted_once_with_the_status_it_got(service, server, me):
    for kind in ("events", "refused", "broken"):
        answer = await server.request("POST", f"{STREAMS}/{kind}", token=me.token)
        if answer.status == 200:
            await answer.rest()
    counted = [
        line
        for line in service.instance.metrics.render().decode().splitlines()
        if line.startswith("retinue_http_requests_total") and STREAMS in line
    ]
    assert sorted(line.rpartition("status=")[2] for line in counted) == [
        '"200"} 1.0',
        '"409"} 1.0',
        '"500"} 1.0',
    ]


async def test_a_stream_ends_with_its_session(me, server, planted, monkeypatch):
    monkeypatch.setattr(App, "session_check_s", 0.02)
    stream = await server.request("POST", f"{STREAMS}/endless", token=me.token)
    assert (await stream.next_event())[0] == "started"
    assert (await me.post("/auth/logout")).status == 200
    ((name, error),) = await stream.rest()
    assert (name, error["code"]) == ("error", "session_ended")
    await wait_until_closed(planted)


@pytest.mark.parametrize("change", [{"status": UserStatus.inactive}, {"role": Role.viewer}])
async def test_a_stream_ends_with_the_right_to_it(me, people, server, planted, change, monkeypatch):
    monkeypatch.setattr(App, "session_check_s", 0.02)
    stream = await server.request("POST", f"{STREAMS}/endless", token=me.token)
    assert (await stream.next_event())[0] == "started"
    async with people.context(me.user.tenant_id) as ctx:
        await ctx.db.update(me.user, **change)
    ((name, error),) = await stream.rest()
    assert (name, error["code"]) == ("error", "session_ended")
    await wait_until_closed(planted)


@pytest.mark.one_service("counts the checks of one process")
async def test_a_session_that_lives_keeps_its_stream(service, me, server, planted, monkeypatch, clock):
    """Also when the access token expires meanwhile: it was good when the request came."""
    monkeypatch.setattr(App, "session_check_s", 0.01)
    authenticate, checks = service.app._authenticate, asyncio.Semaphore(0)

    async def counted(*asked):
        checks.release()
        return await authenticate(*asked)

    monkeypatch.setattr(service.app, "_authenticate", counted)
    stream = await server.request("POST", f"{STREAMS}/endless", token=me.token)
    assert (await stream.next_event())[0] == "started"
    clock.advance(3600)
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(5):
            await checks.acquire()
    assert (await me.get("/auth/me")).details == {"reason": "token_expired"}
    planted.gate.opened.set()
    assert await stream.rest() == [("ended", {})]


async def test_a_client_that_leaves_ends_its_producer_at_once(endless, planted, people):
    endless.close()
    await wait_until_closed(planted)
    assert await notes(people) == 3, "the producer put things in order in a unit of its own"


async def test_a_client_that_leaves_before_the_first_event_is_noticed_too(me, server, planted, monkeypatch):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def produce(_ctx, _kind):
        begun.set()
        try:
            await asyncio.Event().wait()
            yield
        finally:
            ended.set()

    monkeypatch.setattr(planted, "_produce", produce)
    asking = asyncio.create_task(server.request("POST", f"{STREAMS}/endless", token=me.token))
    await asyncio.wait_for(begun.wait(), PATIENCE_S)
    server.clients[-1].close()
    await asyncio.wait_for(ended.wait(), PATIENCE_S)
    await asyncio.wait([asking])
    assert asking.exception() is not None


async def test_a_shutdown_is_said_before_the_connection_ends(service, server, endless, planted):
    service.instance.shutting_down.set()
    assert [(name, error["code"]) for name, error in await endless.rest()] == [("error", "server_shutdown")]
    await wait_until_closed(planted)
    await asyncio.wait_for(asyncio.shield(server.task), PATIENCE_S)


async def test_the_command_that_serves_tells_its_streams_when_it_ends(service, me, planted, monkeypatch):
    monkeypatch.setattr(
        cli, "Service", functools.partial(cli.Service, manifests=(*DOMAINS, planted.manifest))
    )
    serving = ServeCommand(service.settings)
    ready, port = asyncio.Event(), []
    bound, told = serving.bound, serving.ready
    monkeypatch.setattr(serving, "bound", lambda addresses: (port.append(addresses[0][1]), bound(addresses)))
    monkeypatch.setattr(serving, "ready", lambda: (told(), ready.set()))
    running = asyncio.create_task(serving.run("127.0.0.1", 0))
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    signed_in = await _sign_in(serving.service, me)
    stream = await StreamClient.connected(port[0])
    await stream.ask("POST", f"{STREAMS}/endless", signed_in, b"", {})
    assert (await stream.next_event())[0] == "started"
    serving.shutting_down.set()
    assert [(name, error["code"]) for name, error in await stream.rest()] == [("error", "server_shutdown")]
    await asyncio.wait_for(running, PATIENCE_S)
    stream.close()


async def _sign_in(service, me: Api) -> str:
    """Return a token by the clock of this service, which is the real one."""
    answer = await Api(service).post("/auth/login", {"email": me.user.email, "password": PASSWORD})
    return answer.json()["access_token"]


async def test_a_file_and_an_open_route_have_their_limits_over_a_real_connection_too(server, me):
    file = await server.request("GET", "/planted/answers/file", token=me.token)
    assert (file.status, file.headers["content-length"]) == (200, "10")
    assert file.headers["x-ratelimit-remaining"] == "11999"
    nothing = await server.request("DELETE", "/planted/answers/nothing", token=me.token)
    assert (nothing.status, "content-length" in nothing.headers) == (204, False)
    assert "transfer-encoding" not in nothing.headers
    for path, status, left in (
        (ANYONE, 200, "11999"),
        (ANYONE.replace("planted", "%70lant%65d"), 200, "11998"),
        (f"{ANYONE}?x=%00", 200, "11997"),
    ):
        answer = await server.request("GET", path)
        assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (status, left)
    overridden = await server.request("DELETE", ANYONE, X_HTTP_Method_Override="GET")
    assert (overridden.status, overridden.headers["x-ratelimit-remaining"]) == (405, "11995")
