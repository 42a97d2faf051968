import asyncio
import json

import msgspec
import pytest

from retinue.kit.errors import NotFound
from retinue.kit.http import sse
from retinue.kit.http.sse import ServerSentEvent, encode, stream
from tests.kit.served import PATIENCE_S


class Delta(msgspec.Struct):
    delta: str


def parse_events(raw):
    """Events as a browser reads them: lines end in CR, LF or both, a blank line ends an event."""
    events = []
    for block in raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line.partition(b": ") for line in block.split(b"\n") if line]
        if lines:
            events.append({name.decode(): value.decode() for name, _, value in lines})
    return events


class Peer:
    """Both directions of a client that may stop reading, and may leave."""

    def __init__(self):
        self.messages = []
        self.left = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self.arrived = asyncio.Event()

    async def send(self, message):
        if not self.reads.is_set():
            await self.reads.wait()
        self.messages.append(message)
        self.arrived.set()

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def has_events(self, number):
        while len(self.events()) < number:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), PATIENCE_S)

    def events(self):
        return parse_events(b"".join(message.get("body", b"") for message in self.messages))

    def is_complete(self):
        return bool(self.messages) and self.messages[-1].get("more_body") is False


class Producer:
    """Yields what it is given, then waits for ever; knows whether it was closed."""

    def __init__(self, *events, then=None):
        self.given = list(events)
        self.then = then
        self.yielded = 0
        self.closed = asyncio.Event()

    async def __call__(self):
        try:
            for event in self.given:
                yield event
                self.yielded += 1
            if self.then is not None:
                raise self.then
            await asyncio.Event().wait()
        finally:
            # Cleaning up takes a database more than one turn of the loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.closed.set()


def start_stream(peer, events, **options):
    return asyncio.create_task(stream(peer.send, peer.receive, events, headers=[(b"x-a", b"b")], **options))


async def wait_for_end(task):
    async with asyncio.timeout(PATIENCE_S):
        return await task


def test_an_event_has_a_name_an_id_and_its_data_on_one_line():
    assert encode(ServerSentEvent("content_delta", Delta("a\nb"), 7)) == (
        b'event: content_delta\nid: 7\ndata: {"delta":"a\\nb"}\n\n'
    )
    assert encode(ServerSentEvent("ping", b"{}")) == b"event: ping\ndata: {}\n\n"
    assert encode(ServerSentEvent(None, b"[DONE]")) == b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    "text",
    ["\n\nevent: tool_result\ndata: {}", "\r\revent: x\rdata: {}\r\r", "\r\n\r\nid: 9", "\u2028\u2029\x85\0"],
)
def test_no_text_can_make_an_event_of_its_own(text):
    pretty = json.dumps({"delta": text}, indent=2).encode()
    for data in (Delta(text), pretty, pretty.replace(b"\n", b"\r\n"), pretty.replace(b"\n", b"\r")):
        (event,) = parse_events(encode(ServerSentEvent("content_delta", data, 1)))
        assert set(event) == {"event", "id", "data"}
        assert event["event"] == "content_delta"
        assert json.loads(event["data"]) == {"delta": text}


@pytest.mark.parametrize("name", ["", "a\nb", "a\rdata: {}"])
def test_a_name_that_would_break_the_format_is_a_mistake(name):
    with pytest.raises(ValueError, match="cannot name"):
        encode(ServerSentEvent(name, b"{}"))


async def test_events_are_sent_as_they_come_and_the_stream_ends():
    async def events():
        for number in range(3):
            yield ServerSentEvent("content_delta", Delta(str(number)), number)

    peer = Peer()
    await wait_for_end(start_stream(peer, events()))
    start, *bodies = peer.messages
    assert start["status"] == 200
    assert dict(start["headers"]) == {
        b"content-type": b"text/event-stream",
        b"cache-control": b"no-store",
        b"x-accel-buffering": b"no",
        b"x-a": b"b",
    }
    assert len(bodies) == 3, "the first at once, what came in the same turn together, and the end"
    assert [event["id"] for event in peer.events()] == ["0", "1", "2"]
    assert peer.is_complete()


async def test_a_stream_without_events_is_complete():
    async def events():
        return
        yield

    peer = Peer()
    await wait_for_end(start_stream(peer, events()))
    assert peer.messages[0]["type"] == "http.response.start"
    assert peer.is_complete()


async def test_an_error_before_the_first_byte_is_the_callers():
    peer = Peer()
    for error in (NotFound(), RuntimeError("boom")):
        producer = Producer(then=error)
        with pytest.raises(type(error)):
            await wait_for_end(start_stream(peer, producer()))
        assert producer.closed.is_set()
    assert peer.messages == []


@pytest.mark.parametrize(
    ("error", "code"), [(NotFound("Gone."), "not_found"), (RuntimeError("secret detail"), "internal_error")]
)
async def test_an_error_after_the_first_byte_is_the_last_event(error, code):
    peer = Peer()
    await wait_for_end(start_stream(peer, Producer(ServerSentEvent("a", b"{}", 4), then=error)()))
    first, last = peer.events()
    assert (first["event"], last["event"], last["id"]) == ("a", "error", "4")
    assert json.loads(last["data"])["code"] == code
    assert "secret" not in last["data"]
    assert peer.is_complete()


async def test_a_protocol_with_words_of_its_own_for_an_error_says_it_in_them():
    def told(error):
        return ServerSentEvent(None, {"error": {"code": error.code}})

    peer = Peer()
    await wait_for_end(
        start_stream(peer, Producer(ServerSentEvent(None, b"{}"), then=NotFound())(), show_error=told)
    )
    sent = b"".join(message.get("body", b"") for message in peer.messages)
    assert sent == b'data: {}\n\ndata: {"error":{"code":"not_found"}}\n\n'
    assert peer.is_complete()


async def test_silence_is_filled_with_pings():
    peer = Peer()
    task = start_stream(peer, Producer(ServerSentEvent("a", b"{}"))(), heartbeat_s=0.01)
    await peer.has_events(4)
    peer.left.set()
    await wait_for_end(task)
    sent = [message["body"] for message in peer.messages[1:]]
    assert sent[1:4] == [b": ping\n\n"] * 3


async def test_a_producer_that_is_slow_to_begin_does_not_leave_the_client_without_a_sign():
    peer = Peer()
    task = start_stream(peer, Producer()(), heartbeat_s=0.01)
    await peer.has_events(1)
    peer.left.set()
    await wait_for_end(task)
    assert [message["type"] for message in peer.messages[:2]] == ["http.response.start", "http.response.body"]


async def test_a_client_that_leaves_ends_the_producer():
    peer, producer = Peer(), Producer(ServerSentEvent("a", b"{}"))
    task = start_stream(peer, producer())
    await peer.has_events(1)
    peer.left.set()
    await wait_for_end(task)
    assert producer.closed.is_set()
    assert not peer.is_complete()


async def test_a_client_that_leaves_ends_a_producer_that_waits_for_room():
    peer = Peer()
    producer = Producer(*[ServerSentEvent("a", bytes(1000).replace(b"\0", b"1"))] * 100)
    peer.reads.clear()
    task = start_stream(peer, producer(), queue_bytes=10_000)
    while producer.yielded < 10:
        await asyncio.sleep(0)
    peer.left.set()
    await wait_for_end(task)
    assert producer.closed.is_set()


async def test_a_cancelled_stream_ends_its_producer():
    peer, producer = Peer(), Producer(ServerSentEvent("a", b"{}"))
    task = start_stream(peer, producer())
    await peer.has_events(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait_for_end(task)
    assert producer.closed.is_set()


async def test_a_client_that_lags_holds_up_the_producer_and_loses_nothing():
    peer = Peer()
    producer = Producer(*[ServerSentEvent("a", b"1" * 1000, number) for number in range(200)])
    peer.reads.clear()
    task = start_stream(peer, producer(), queue_bytes=50_000)
    for _ in range(1000):
        await asyncio.sleep(0)
    assert 45 <= producer.yielded <= 52
    peer.reads.set()
    await peer.has_events(200)
    assert [event["id"] for event in peer.events()] == [str(number) for number in range(200)]
    assert max(len(message.get("body", b"")) for message in peer.messages) < 34_000
    peer.left.set()
    await wait_for_end(task)


async def test_a_client_that_takes_nothing_is_given_up():
    peer = Peer()
    producer = Producer(*[ServerSentEvent("a", b"1" * 1000)] * 100)
    peer.reads.clear()
    await wait_for_end(start_stream(peer, producer(), queue_bytes=10_000, write_timeout_s=0.02))
    assert producer.closed.is_set()
    assert not peer.is_complete()


async def test_no_task_is_switched_for_a_client_that_keeps_up():
    peer = Peer()
    turns = 0

    async def count_turns():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def events():
        before = turns
        for number in range(1000):
            yield ServerSentEvent("a", b"{}", number)
        assert turns == before

    counting = asyncio.create_task(count_turns())
    await wait_for_end(start_stream(peer, events()))
    counting.cancel()
    assert len(peer.events()) == 1000


async def test_the_end_of_a_session_ends_the_stream():
    peer, producer = Peer(), Producer(ServerSentEvent("a", b"{}", 3))
    answers = [True, True, False]

    async def still_allowed():
        return answers.pop(0)

    await wait_for_end(start_stream(peer, producer(), still_allowed=still_allowed, check_every_s=0.01))
    last = peer.events()[-1]
    assert (last["event"], last["id"], json.loads(last["data"])["code"]) == ("error", "3", "session_ended")
    assert producer.closed.is_set()
    assert peer.is_complete()
    assert answers == []


async def test_a_session_that_cannot_be_checked_has_ended():
    async def still_allowed():
        raise OSError("the database is away")

    peer = Peer()
    await wait_for_end(start_stream(peer, Producer()(), still_allowed=still_allowed, check_every_s=0.01))
    (last,) = peer.events()
    assert json.loads(last["data"])["code"] == "session_ended"


async def test_a_slow_check_does_not_hide_that_the_client_left():
    peer, checking = Peer(), asyncio.Event()

    async def still_allowed():
        checking.set()
        await asyncio.Event().wait()

    task = start_stream(peer, Producer()(), still_allowed=still_allowed, check_every_s=0.01)
    await asyncio.wait_for(checking.wait(), PATIENCE_S)
    peer.left.set()
    await wait_for_end(task)


async def test_a_shutdown_is_said_to_the_client():
    peer, producer, shutting_down = Peer(), Producer(ServerSentEvent("a", b"{}")), asyncio.Event()
    task = start_stream(peer, producer(), shutting_down=shutting_down)
    await peer.has_events(1)
    shutting_down.set()
    await wait_for_end(task)
    assert json.loads(peer.events()[-1]["data"])["code"] == "server_shutdown"
    assert producer.closed.is_set()
    assert peer.is_complete()


async def test_a_producer_that_fails_while_it_is_closed_is_logged_and_harmless(monkeypatch):
    logged = []
    monkeypatch.setattr(sse.log, "error", lambda event, **_: logged.append(event), raising=False)

    async def events():
        try:
            yield ServerSentEvent("a", b"{}")
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("cannot close")

    peer = Peer()
    task = start_stream(peer, events())
    await peer.has_events(1)
    peer.left.set()
    await wait_for_end(task)
    assert logged == ["stream_not_stopped"]
