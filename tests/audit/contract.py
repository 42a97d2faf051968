"""Objects and calls of audit streams for the contract tests."""

from retinue.audit.models import AuditStream
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.audit_streams import some_stream

_BODY = {"name": "SIEM", "type": "webhook", "config": {"url": "http://127.0.0.1:9/rows"}}


async def _make(world: World) -> dict[str, str]:
    stream = await world.ctx.db.insert(some_stream(world.owner.id, world.name))
    return {"stream_id": stream.id}


CONTRACT = DomainContract(records=(AuditStream,), make=_make)


@CONTRACT.writes(audit_streams=1)
async def create_audit_stream(scene: Scene) -> Call:
    return Call(scene.me, _BODY)


@CONTRACT.writes("audit_streams.name audit_streams.due_at audit_streams.updated_at")
async def update_audit_stream(scene: Scene) -> Call:
    made = (await scene.me.post("/api/v1/audit/streams", _BODY)).json()
    return Call(scene.me, {"name": "Other"}, {"stream_id": made["id"]})
