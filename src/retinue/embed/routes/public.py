from retinue.embed import public_chat
from retinue.embed.failures import FAILURES
from retinue.embed.loaders import PublicAgent
from retinue.embed.schemas import PublicAsk, PublicReply, Snippet
from retinue.embed.snippets import snippet
from retinue.kit.context import Context
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import EMBED_KEY, Routes

routes = Routes("/api/v1/public/agents/{agent_id}", tag="public chat")


@routes.get("/embed", requires="agents:read", or_embed_key=True)
async def get_embed_snippet(ctx: Context, agent: PublicAgent) -> Snippet:
    return snippet(ctx, agent)


@routes.post("/chat", requires=EMBED_KEY, cost="chat", calls_out=True, errors=(*FAILURES, NotRepeatable))
async def chat_in_public(
    ctx: Context, agent: PublicAgent, body: PublicAsk, request: Request
) -> PublicReply | EventStream:
    """With `stream`, or with `Accept: text/event-stream`, the events of a chat stream without its tools."""
    if body.stream or "text/event-stream" in request.header(b"accept"):
        refuse_for_stream(request)
        return await public_chat.stream(ctx, agent, body)
    return await public_chat.reply(ctx, agent, body)
