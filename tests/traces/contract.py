"""Objects and calls of trace exporters for the contract tests."""

from retinue.traces.models import TraceExporter
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.traces import some_exporter, some_part

_PATH = "/api/v1/trace-exporters"
_BODY = {"name": "Tempo", "endpoint": "http://127.0.0.1:9"}


async def _make(world: World) -> dict[str, str]:
    exporter = await world.ctx.db.insert(some_exporter(world.owner.id, world.name))
    part = await world.ctx.db.insert(some_part(world.name))
    return {"exporter_id": exporter.id, "trace_id": part.trace_id}


CONTRACT = DomainContract(records=(TraceExporter,), make=_make)


@CONTRACT.writes(trace_exporters=1)
async def create_trace_exporter(scene: Scene) -> Call:
    return Call(scene.me, _BODY)


@CONTRACT.writes("trace_exporters.name trace_exporters.due_at trace_exporters.updated_at")
async def update_trace_exporter(scene: Scene) -> Call:
    made = (await scene.me.post(_PATH, _BODY)).json()
    return Call(scene.me, {"name": "Other"}, {"exporter_id": made["id"]})
