from retinue.agents.errors import AgentNotFound
from retinue.embed import agents_as_models, completions
from retinue.embed.failures import TURN_ERRORS
from retinue.embed.openai_errors import OPENAI_ERRORS
from retinue.embed.openai_schemas import Completion, CompletionAsk, Models
from retinue.kit.context import Context
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes

routes = Routes("/v1", tag="openai")


@routes.post(
    "/chat/completions",
    requires="agents:chat",
    or_embed_key=True,
    cost="chat",
    calls_out=True,
    errors=(AgentNotFound, *TURN_ERRORS, NotRepeatable),
    error_format=OPENAI_ERRORS,
)
async def create_chat_completion(
    ctx: Context, body: CompletionAsk, request: Request
) -> Completion | EventStream:
    """Answer like OpenAI's chat completions, with an agent as the model. Tools run on the server.

    With `stream`, the reply comes as chunks followed by `[DONE]`. Takes an access token or an embed key.
    Every request is stored as a conversation of its own.
    """
    agent = await agents_as_models.require_agent(ctx, body.model)
    if body.stream:
        refuse_for_stream(request)
        return await completions.stream(ctx, agent, body)
    return await completions.complete(ctx, agent, body)


@routes.get("/models", requires="agents:read", or_embed_key=True, error_format=OPENAI_ERRORS)
async def list_agents_as_models(ctx: Context) -> Models:
    """List the agents that can be used as a model, in OpenAI's format. Archived agents are left out.

    An embed key sees only its own agent.
    """
    return await agents_as_models.list_models(ctx)
