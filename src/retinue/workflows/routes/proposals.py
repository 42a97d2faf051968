from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes
from retinue.providers.errors import ModelNotConfigured
from retinue.usage.errors import BudgetExceeded, ModelUnpriced
from retinue.workflows import proposals
from retinue.workflows.errors import WorkflowDraftNotFound, WorkflowGenerationFailed
from retinue.workflows.loaders import WorkflowById
from retinue.workflows.schemas import (
    WorkflowExplanation,
    WorkflowExplanationRequest,
    WorkflowPrompt,
    WorkflowProposal,
)

routes = Routes("/api/v1/workflows", tag="workflows", wrap=True)

_ERRORS = (
    BudgetExceeded,
    ModelNotConfigured,
    ModelError,
    ModelTimeout,
    ModelUnpriced,
    WorkflowGenerationFailed,
    VaultSealed,
)


@routes.post("/generate", requires="workflows:write", cost="chat", calls_out=True, errors=_ERRORS)
async def generate_workflow(ctx: Context, body: WorkflowPrompt) -> WorkflowProposal:
    """Let a model write a workflow from a description, and return it with what is still wrong with it.

    Nothing is stored or run. The model is told the names and ids of the newest agents, tools, tables,
    channels and workflows that the caller may read. If it returns nothing usable: 502 `model_error`.
    """
    return await proposals.generate_workflow(ctx, body)


@routes.post(
    "/{workflow_id}/explain",
    requires="workflows:write",
    cost="chat",
    calls_out=True,
    errors=(WorkflowDraftNotFound, *_ERRORS),
)
async def explain_workflow(
    ctx: Context, workflow: WorkflowById, body: WorkflowExplanationRequest
) -> WorkflowExplanation:
    """Let a model explain a workflow in plain words, as a whole and node by node.

    Nothing is stored. The model does not see the values of headers. If it returns nothing usable: 502
    `model_error`.
    """
    return await proposals.explain_workflow(ctx, workflow, body)
