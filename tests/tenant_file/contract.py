"""Calls of the tenant file for the contract tests."""

from retinue.tenant_file.models import FileName
from tests.contract.knowledge import Call, DomainContract, Scene

# As text: a file refuses keys that it does not know, at every depth.
_DOCUMENT = """
retinue: 1
agents:
  Desk: { name: The desk, primary_model: local/any, system_prompt: You help. }
"""

CONTRACT = DomainContract(records=(FileName,))


@CONTRACT.writes()
async def plan_tenant(scene: Scene) -> Call:
    return Call(scene.me, {"document": _DOCUMENT})


@CONTRACT.writes(agents=1, agent_versions=1, tenant_file_names=1)
async def apply_tenant(scene: Scene) -> Call:
    planned = (await scene.me.post("/api/v1/tenant/plan", {"document": _DOCUMENT})).json()
    return Call(scene.me, {"document": _DOCUMENT, "plan_hash": planned["plan_hash"]})
