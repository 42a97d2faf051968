from retinue.kit.errors import Conflict, NotFound, RateLimited, RetinueError


class ConversationNotFound(NotFound):
    """There is no such conversation."""

    code = "conversation_not_found"


class MessageNotFound(NotFound):
    """There is no such message."""

    code = "message_not_found"


class JobNotFound(NotFound):
    """There is no such job."""

    code = "job_not_found"


class AgentArchived(Conflict):
    """This agent is archived; restore it first."""

    code = "agent_archived"


class StreamExpired(RetinueError):
    """This stream can no longer be resumed; read the conversation instead."""

    status, code = 410, "stream_expired"


class TurnTimedOut(RetinueError):
    """The agent did not finish in time."""

    status, code = 504, "model_timeout"


class TooManyTurns(RateLimited):
    """Too many conversations are being answered at this moment."""


class SttNotConfigured(RetinueError):
    """No model that transcribes speech is configured."""

    status, code = 422, "stt_not_configured"


class TtsNotConfigured(RetinueError):
    """No model that speaks is configured."""

    status, code = 422, "tts_not_configured"
