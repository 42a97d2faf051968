"""The types of nodes: a new one is a line in this table."""

from retinue.workflows.loops import LOOP
from retinue.workflows.nodes.flow import FLOW
from retinue.workflows.nodes.inside import INSIDE
from retinue.workflows.nodes.kinds import NodeType
from retinue.workflows.nodes.outside import OUTSIDE
from retinue.workflows.nodes.sub_workflow import SUB_WORKFLOW
from retinue.workflows.nodes.waiting import WAITING

NODE_TYPES: dict[str, NodeType] = {
    kind.type: kind for kind in (*WAITING, *OUTSIDE, *FLOW, LOOP, *INSIDE, SUB_WORKFLOW)
}
