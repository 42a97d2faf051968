from retinue.chat.attachments.preparation import ATTACHMENT_ERRORS
from retinue.chat.errors import MessageNotFound
from retinue.chat.schemas import FeedbackGiven, Stopped
from retinue.embed.errors import AttachmentsNotAllowed
from retinue.embed.failures import TURN_ERRORS
from retinue.embed.hosted import public_turns
from retinue.embed.hosted.page_schemas import (
    PublicAudioReply,
    SessionFeedback,
    SessionMessage,
)
from retinue.embed.loaders import PublicAgent
from retinue.embed.public_chat import PublicVisit
from retinue.embed.visitor_files import MAX_FILE_BYTES
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge
from retinue.kit.http.request import Request
from retinue.kit.http.routing import EMBED_KEY, Routes, Upload
from retinue.kit.http.uploads import FormData

routes = Routes("/api/v1/public/agents/{agent_id}", tag="public chat")

_RECORDING = Upload(
    max_file=MAX_FILE_BYTES, fields=("audio",), texts=("session_id",), admit=public_turns.admit_recording
)


@routes.post("/stop", requires=EMBED_KEY, calls_out=True, idempotent=False, errors=(MessageNotFound,))
async def stop_public_chat(ctx: Context, agent: PublicAgent, body: SessionMessage) -> Stopped:
    """Stop a reply of the session that is being written; what was said so far is kept.

    A reply that has already ended stays as it is.
    """
    return await public_turns.stop(ctx, agent, body)


@routes.post("/feedback", requires=EMBED_KEY, idempotent=False, errors=(MessageNotFound,))
async def rate_public_message(ctx: Context, agent: PublicAgent, body: SessionFeedback) -> FeedbackGiven:
    """Rate a reply of the session; a new rating replaces the previous one."""
    return await public_turns.rate(ctx, agent, body)


@routes.post(
    "/audio",
    requires=EMBED_KEY,
    cost="chat",
    calls_out=True,
    upload=_RECORDING,
    errors=(*TURN_ERRORS, *ATTACHMENT_ERRORS, AttachmentsNotAllowed, FileTooLarge),
)
async def chat_audio_in_public(
    ctx: Context, agent: PublicAgent, form: FormData, request: Request
) -> PublicAudioReply:
    """Transcribe a visitor's recording of at most 10 MiB and answer it like a typed message.

    The embed key must have `allow_attachments`. If no speech is recognized, the reply says so.
    """
    visit = PublicVisit(is_browser=b"origin" in request.headers)
    return await public_turns.reply_to_recording(ctx, agent, form, visit)
