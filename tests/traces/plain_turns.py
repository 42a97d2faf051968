"""Turns with one model call, of every way to ask for them, and what the API tells about their traces."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from retinue.app import Service
from retinue.kit.clock import ManualClock, parse_instant, to_instant
from tests.adapters.llm_server import ProviderServer, hanging, refusing
from tests.chat.background_jobs import accept
from tests.chat.listening import Listener, wait_until_quiet
from tests.chat.provider_faults import unfinished_stream
from tests.chat.speaking import path_of, reply_to, stream
from tests.client import Api
from tests.e2e.chatting import piece
from tests.embed.keys import Holder, make_key
from tests.factories.people import People
from tests.traces.otlp_receiver import OtlpCollector

TRACES = "/api/v1/traces"
Json = dict[str, Any]

# What differs between two runs: ids, instants, what clocks measure, and the machine.
_IDS = re.compile(r"\b(?:[a-z]{3,4}_[2-7a-z]{26}|[0-9a-f]{32}|[0-9a-f]{16})\b")
_INSTANT = re.compile(r"^20\d\d-\d\d-\d\dT[\d:.]+Z$")
_MACHINE = {
    "service.instance.id",
    "service.version",
    "version",
    "server.port",
    "gen_ai.response.time_to_first_chunk",
}
_MEASURED = {"duration_ms", "startTimeUnixNano", "endTimeUnixNano"}


class Asker:
    """Asks the same questions in every way, and returns the trace of each."""

    def __init__(
        self,
        service: Service,
        people: People,
        admin: Api,
        agent: Json,
        provider: ProviderServer,
        clock: ManualClock,
    ) -> None:
        self.service, self.people, self.admin = service, people, admin
        self.agent, self.provider = agent, provider
        self.clock = clock
        self.ways: dict[str, Callable[[], Awaitable[object]]] = {
            "blocking": self.blocking,
            "streamed": self.streamed,
            "background": self.background,
            "public": self.public,
            "continued": self.continued,
            "failed": self.failed,
            "stopped": self.stopped,
        }

    async def blocking(self) -> None:
        self.provider.says("Hello.")
        await reply_to(self.admin, self.agent, temperature=0.5, max_tokens=100)

    async def streamed(self) -> None:
        self.provider.says("Hello there.")
        await stream(self.admin, self.agent)

    async def background(self) -> None:
        self.provider.says("Done.")
        await accept(self.admin, self.agent)
        await self.service.runner.drain()

    async def public(self) -> None:
        holder = Holder(Api(self.service), self.agent, await make_key(self.admin, self.agent))
        self.provider.says("Welcome.")
        answer = await holder.say()
        assert answer.status == 200, answer

    async def continued(self) -> None:
        """A caller who continues a trace of their own."""
        self.provider.says("Hello again.")
        header = {"traceparent": f"00-{'4bf92f35' * 4}-{'00f067aa' * 2}-01"}
        answer = await self.admin.post(path_of(self.agent), {"message": "Hi"}, headers=header)
        assert answer.status == 200, answer

    async def failed(self) -> None:
        self.provider.fails(*[refusing(401, {"error": {"message": "no"}})] * 9)
        answer = await self.admin.post(path_of(self.agent), {"message": "Go"})
        assert answer.status == 502, answer
        self.provider.faults.clear()

    async def stopped(self) -> None:
        self.provider.fails(hanging(unfinished_stream(piece("For ever"))))
        listener = Listener(self.admin, path_of(self.agent, "/stream"), {"message": "How long?"})
        await listener.until("content_delta")
        message_id = listener.events[0].data["message_id"]
        assert (await self.admin.post(path_of(self.agent, f"/{message_id}/stop"))).status == 200
        await listener.end()
        await wait_until_quiet(self.service)

    async def trace(self, trace_id: str) -> Json:
        answer = await self.admin.get(f"{TRACES}/{trace_id}")
        assert answer.status == 200, answer
        shown: Json = answer.json()
        return shown

    async def ask_all(self) -> dict[str, str]:
        """Return the ids of the traces, by the way in which was asked."""
        price = {
            "model": "openai_compatible/test-model",
            "input_price_per_mtok": 2.5,
            "output_price_per_mtok": 10,
        }
        assert (await self.admin.put("/api/v1/model-prices", price)).status == 200
        found: dict[str, str] = {}
        for name, ask in self.ways.items():
            await ask()
            newest = (await listed(self.admin, kind="turn"))["data"]
            (found[name],) = {row["trace_id"] for row in newest} - set(found.values())
            self.clock.advance(1)
        return found


async def listed(api: Api, **query: Any) -> Json:
    answer = await api.get(TRACES, query=query)
    assert answer.status == 200, answer
    shown: Json = answer.json()
    return shown


async def answers_of(api: Api, traces: dict[str, str], agent: Json) -> Json:
    """Return what the API says of the traces, and lists of them with every filter."""
    found: Json = {}
    for name, trace_id in traces.items():
        for place in ("", "/otlp"):
            answer = await api.get(f"{TRACES}/{trace_id}{place}")
            assert answer.status == 200, answer
            found[f"{name}{place}"] = neutral(answer.json())
    (row,) = [row for row in (await listed(api))["data"] if row["trace_id"] == traces["streamed"]]
    # Between two turns: the start is measured, and the log has the instant of the clock, which stands still.
    between = to_instant(parse_instant(row["started_at"]) - timedelta(seconds=0.5))
    queries: dict[str, Json] = {
        "all": {},
        "pages": {"per_page": 2, "page": 2},
        "agent": {"agent_id": agent["id"]},
        "conversation": {"conversation_id": row["conversation_id"]},
        "user": {"user_id": row["user_id"]},
        "user and agent": {"user_id": row["user_id"], "agent_id": agent["id"], "per_page": 1, "page": 3},
        "correlation": {"correlation_id": row["correlation_id"]},
        "turns": {"kind": "turn"},
        "deliveries": {"kind": "delivery"},
        "ok": {"status": "ok"},
        "ok turns": {"status": "ok", "kind": "turn"},
        "errors": {"status": "error"},
        "code": {"error_code": "timeout"},
        "workflow": {"workflow_id": "wf_1"},
        "long": {"min_duration_ms": 3_600_000},
        "not long": {"min_duration_ms": 0.001},
        "until": {"to": between},
        "never": {"from": "2099-01-01T00:00:00Z"},
    }
    for name, query in queries.items():
        found[f"list: {name}"] = neutral(await listed(api, **query))
    for sort in ("duration_ms", "-duration_ms"):
        shown = await listed(api, sort=sort)
        durations = [one["duration_ms"] for one in shown["data"]]
        assert durations == sorted(durations, reverse=sort.startswith("-"))
        found[f"list: by {sort}"] = shown["pagination"]
    return found


def neutral(shown: Any) -> Any:
    """Replace ids by their number, and what differs between two runs by its kind.

    Attributes are sorted: PostgreSQL does not keep the order in which they were set.
    """
    numbers: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        kind, is_prefixed, _ = match[0].partition("_")
        kind = kind if is_prefixed else {32: "trace", 16: "span"}[len(kind)]
        return numbers.setdefault(match[0], f"<{kind} {len(numbers)}>")

    def of(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            if value.get("key") in _MACHINE:
                return {"key": value["key"], "value": "<machine>"}
            return {key: "<machine>" if key in _MACHINE else of(value[key], key) for key in sorted(value)}
        if isinstance(value, list):
            is_named = value and isinstance(value[0], dict) and "key" in value[0]
            return [of(one) for one in (sorted(value, key=lambda one: one["key"]) if is_named else value)]
        if name in _MEASURED:
            return f"<{type(value).__name__}>"
        if isinstance(value, str):
            return "<instant>" if _INSTANT.match(value) else _IDS.sub(named, value)
        return value

    return of(shown)


def exported(collector: OtlpCollector) -> list[Json]:
    """Return what arrived at a receiver of JSON, the turns by their start."""
    spans = [span for arrived in collector.accepted for span in arrived.spans]
    turns = {span["traceId"] for span in spans if "parentSpanId" not in span or span["kind"] == 1}
    found = [[span for span in spans if span["traceId"] == trace] for trace in turns]
    found.sort(key=lambda of_turn: min(int(span["startTimeUnixNano"]) for span in of_turn))
    return [neutral(of_turn) for of_turn in found]
