from retinue.chat.attachments.preparation import ATTACHMENT_ERRORS
from retinue.embed import public_chat, transcripts, visitor_files
from retinue.embed.errors import AttachmentsNotAllowed, TooManyFiles
from retinue.embed.failures import TURN_ERRORS
from retinue.embed.loaders import PublicAgent
from retinue.embed.public_chat import PublicVisit
from retinue.embed.schemas import PublicAsk, PublicReply, Snippet, Transcript, TranscriptRead, VisitorFileOut
from retinue.embed.snippets import snippet
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, UnsupportedFileType
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import EMBED_KEY, Routes, Upload
from retinue.kit.http.uploads import FormData

routes = Routes("/api/v1/public/agents/{agent_id}", tag="public chat")


@routes.get("/embed", requires="agents:read", or_embed_key=True)
async def get_embed_snippet(ctx: Context, agent: PublicAgent) -> Snippet:
    """Return the HTML that adds the chat widget to a page. Takes an access token or an embed key."""
    return snippet(ctx, agent)


@routes.post(
    "/files",
    requires=EMBED_KEY,
    cost="write",
    status=201,
    calls_out=True,
    upload=Upload(max_file=visitor_files.MAX_FILE_BYTES, texts=("session_id",), admit=visitor_files.admit),
    errors=(AttachmentsNotAllowed, FileTooLarge, TooManyFiles, UnsupportedFileType),
)
async def upload_visitor_file(ctx: Context, agent: PublicAgent, form: FormData) -> VisitorFileOut:  # noqa: ARG001
    """Upload a file to attach to a message of the same session: at most 10 MiB, and 20 files a day.

    It is deleted after a day unless a message uses it. The embed key must have `allow_attachments`.
    """
    return await visitor_files.upload(ctx, form)


@routes.post(
    "/chat",
    requires=EMBED_KEY,
    cost="chat",
    calls_out=True,
    errors=(*TURN_ERRORS, *ATTACHMENT_ERRORS, AttachmentsNotAllowed, NotRepeatable),
)
async def chat_in_public(
    ctx: Context,
    agent: PublicAgent,
    body: PublicAsk,
    request: Request,
) -> PublicReply | EventStream:
    """Chat with the agent of the embed key. The same `session_id` continues the same conversation.

    With `stream`, the reply comes as the events of a chat stream, without tool calls and document ids.
    """
    visit = PublicVisit(is_browser=b"origin" in request.headers)
    if body.stream or "text/event-stream" in request.header(b"accept"):
        refuse_for_stream(request)
        return await public_chat.stream(ctx, agent, body, visit)
    return await public_chat.reply(ctx, agent, body, visit)


@routes.post("/transcript", requires=EMBED_KEY, cost="read", calls_out=True, idempotent=False)
async def read_transcript(ctx: Context, agent: PublicAgent, body: TranscriptRead) -> Transcript:
    """Return the last messages of a session, for example after a page was reloaded.

    Knowing the session id is enough to read an anonymous session; one of an identified visitor also needs
    the `user` with its `hash`. With `wait_for`, the response comes as soon as that reply no longer waits for
    an approval, or after 20 seconds.
    """
    return await transcripts.read(ctx, agent, body)
