from retinue.kit.context.continuations import Continuation
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.usage.spending_of_work import SpendingRecorder
from retinue.workflows.engine.node_type import register_node_types
from retinue.workflows.engine.steps import resume_node
from retinue.workflows.engine.watchers import ExecutionWatchers
from retinue.workflows.events import (
    WorkflowCreated,
    WorkflowDeleted,
    WorkflowDraftDiscarded,
    WorkflowDraftSaved,
    WorkflowExecutionCompleted,
    WorkflowExecutionFailed,
    WorkflowExecutionStarted,
    WorkflowNodeCompleted,
    WorkflowPublished,
    WorkflowUpdated,
)
from retinue.workflows.jobs import JOBS
from retinue.workflows.models import (
    NodeRun,
    Workflow,
    WorkflowChain,
    WorkflowDraft,
    WorkflowExecution,
    WorkflowSchedule,
    WorkflowSpending,
    WorkflowVersion,
)
from retinue.workflows.nodes.registry import ALL_NODES
from retinue.workflows.queries import find_referring_workflows, keep_reference
from retinue.workflows.routes import ROUTES
from retinue.workflows.spendings import record_spending
from retinue.workflows.tool_kind import TOOL_KIND
from retinue.workflows.trigger_configs import CONFIG_SCHEMAS as TRIGGER_CONFIG_SCHEMAS
from retinue.workflows.triggers import ROUTER, STARTER

register_node_types(ALL_NODES)

manifest = Manifest(
    name="workflows",
    records=(
        Workflow,
        WorkflowDraft,
        WorkflowVersion,
        WorkflowExecution,
        WorkflowChain,
        NodeRun,
        WorkflowSpending,
        WorkflowSchedule,
    ),
    routes=ROUTES,
    events=(
        WorkflowCreated,
        WorkflowUpdated,
        WorkflowDeleted,
        WorkflowPublished,
        WorkflowDraftSaved,
        WorkflowDraftDiscarded,
        WorkflowExecutionStarted,
        WorkflowExecutionCompleted,
        WorkflowExecutionFailed,
        WorkflowNodeCompleted,
    ),
    jobs=JOBS,
    references=tuple(
        Reference(to=thing, kind="workflows", find=find_referring_workflows, detach=keep_reference)
        for thing in ("agent", "tool", "data_table", "notification_channel")
    ),
    tool_kinds=(TOOL_KIND,),
    config_schemas=(
        TOOL_KIND.config_schema,
        *(kind.described_config for kind in ALL_NODES),
        *TRIGGER_CONFIG_SCHEMAS,
    ),
    routers=(ROUTER,),
    workflow_starters=(STARTER,),
    continuations=(Continuation("workflow_node", resume_node),),
    provided=(SpendingRecorder(record_spending),),
    process_state=(ProcessState(ExecutionWatchers, ExecutionWatchers, ExecutionWatchers.close),),
    search_sources=(
        SearchSource(
            kind="workflow",
            requires="workflows:read",
            record=Workflow,
            name=Workflow.__table__.c.name,
            description=Workflow.__table__.c.description,
        ),
    ),
)
