"""An OTLP/HTTP receiver on loopback: it decodes what arrives as collectors do, and fails as told."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

PROTOBUF = "application/x-protobuf"


@dataclass
class Arrived:
    """One request that was accepted."""

    path: str
    headers: dict[str, str]
    raw: bytes
    spans: list[Any]
    resource: dict[str, str]


@dataclass
class OtlpCollector:
    """`answers` are statuses with headers, given first; `rejects` is for the next batch."""

    url: str = ""
    asked: int = 0
    accepted: list[Arrived] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    is_down: bool = False
    hangs: bool = False
    drips: bool = False
    rejects: int = 0
    release: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def spans(self) -> list[Any]:
        return [span for one in self.accepted for span in one.spans]

    @property
    def names(self) -> list[str]:
        return [span["name"] if isinstance(span, dict) else span.name for span in self.spans]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self.asked += 1
        if self.hangs:
            await self.release.wait()
            return web.Response(status=500)
        if self.drips:
            return await self._drip(request)
        if self.is_down:
            return web.Response(status=500)
        if self.answers:
            status, headers = self.answers.pop(0)
            return web.Response(status=status, headers=headers)
        return self._accept(request, raw)

    def _accept(self, request: web.Request, raw: bytes) -> web.Response:
        # aiohttp has unpacked the body already; the bytes that were sent are packed.
        assert request.headers["Content-Encoding"] == "gzip"
        body = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        rejects, self.rejects = self.rejects, 0
        is_protobuf = request.content_type == PROTOBUF
        read = _read_protobuf if is_protobuf else _read_json
        spans, resource = read(body)
        self.accepted.append(Arrived(request.path, dict(request.headers), body, spans, resource))
        if not is_protobuf:
            return web.json_response({"partialSuccess": {"rejectedSpans": str(rejects)}} if rejects else {})
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = rejects
        return web.Response(body=answer.SerializeToString(), content_type=PROTOBUF)

    async def _drip(self, request: web.Request) -> web.StreamResponse:
        """One byte a second, for ever."""
        response = web.StreamResponse(status=503)
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while not self.release.is_set():
                await response.write(b".")
                await asyncio.sleep(1)
        return response


def _read_protobuf(body: bytes) -> tuple[list[Any], dict[str, str]]:
    (resource_spans,) = ExportTraceServiceRequest.FromString(body).resource_spans
    (scope_spans,) = resource_spans.scope_spans
    assert scope_spans.scope.name == "retinue"
    resource = {one.key: one.value.string_value for one in resource_spans.resource.attributes}
    return list(scope_spans.spans), resource


def _read_json(body: bytes) -> tuple[list[Any], dict[str, str]]:
    (resource_spans,) = msgspec.json.decode(body)["resourceSpans"]
    (scope_spans,) = resource_spans["scopeSpans"]
    resource = {one["key"]: one["value"]["stringValue"] for one in resource_spans["resource"]["attributes"]}
    return scope_spans["spans"], resource


def attributes_of(span: Any) -> dict[str, Any]:
    """The attributes of a span that came as protobuf."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextlib.asynccontextmanager
async def otlp_collector() -> AsyncIterator[OtlpCollector]:
    collector = OtlpCollector()
    runner = web.ServerRunner(web.Server(collector.answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield collector
    finally:
        collector.release.set()
        await runner.cleanup()
