from retinue.kit.errors import Conflict, NotFound, RateLimited, RetinueError


class ConversationNotFound(NotFound):
    """There is no such conversation."""

    code = "conversation_not_found"


class ConversationNotShared(NotFound):
    """The conversation is not shared with anybody."""

    code = "conversation_not_shared"


class MessageNotFound(NotFound):
    """There is no such message."""

    code = "message_not_found"


class JobNotFound(NotFound):
    """There is no such job."""

    code = "job_not_found"


class AgentArchived(Conflict):
    """The agent is archived. Restore it first."""

    code = "agent_archived"


class StreamExpired(RetinueError):
    """This stream can no longer be resumed. Read the conversation instead."""

    status, code = 410, "stream_expired"


class TurnTimedOut(RetinueError):
    """The agent did not finish in time. Try again, or split the task into smaller ones."""

    status, code = 504, "model_timeout"


class TooManyTurns(RateLimited):
    """Too many messages are being answered at the moment. Try again in a few seconds."""


class TooManyConversions(RateLimited):
    """Too many files of visitors are being converted at the moment. Try again in a few seconds."""


class ModelCannotSee(RetinueError):
    """The agent's model does not accept images. Choose a model with vision, or send the text."""

    status, code = 422, "model_cannot_see"

    def __init__(self, model: str = "") -> None:
        super().__init__(details={"model": model} if model else None)


class SttNotConfigured(RetinueError):
    """No speech-to-text model is configured. Add a key of a provider that offers one."""

    status, code = 422, "stt_not_configured"


class TtsNotConfigured(RetinueError):
    """No text-to-speech model is configured. Add a key of a provider that offers one."""

    status, code = 422, "tts_not_configured"
