"""All node types. Add a new one here."""

from retinue.workflows.nodes.control import CONTROL_NODES
from retinue.workflows.nodes.external import EXTERNAL_NODES
from retinue.workflows.nodes.loop import LOOP
from retinue.workflows.nodes.platform import PLATFORM_NODES
from retinue.workflows.nodes.sub_workflow import SUB_WORKFLOW
from retinue.workflows.nodes.wait import WAIT_NODES

ALL_NODES = (*WAIT_NODES, *EXTERNAL_NODES, *CONTROL_NODES, LOOP, *PLATFORM_NODES, SUB_WORKFLOW)
