from collections.abc import Sequence

from retinue.kit.errors import Conflict, NotFound, RateLimited, RetinueError
from retinue.kit.schema.fields import FieldError


class FormNotFound(RetinueError):
    """There is no such form, or it is not published."""

    status, code = 404, "form_not_found"


class FormVersionNotFound(RetinueError):
    """The form has no such version."""

    status, code = 404, "version_not_found"


class FormDraftNotFound(RetinueError):
    """The form has no draft to publish. Save one first, or publish the form as it is."""

    status, code = 404, "draft_not_found"


class SubmissionNotFound(RetinueError):
    """There is no such submission."""

    status, code = 404, "submission_not_found"


class FieldNotFound(RetinueError):
    """The form has no such field."""

    status, code = 404, "field_not_found"


class FormNotPublished(Conflict):
    """This form is not published and does not accept submissions."""

    code = "form_not_published"


class FormClosed(Conflict):
    """This form no longer accepts submissions."""

    code = "form_closed"


class AlreadySubmitted(Conflict):
    """You have already submitted this form."""

    code = "already_submitted"


class SubmissionInvalid(RetinueError):
    """Some answers are not valid."""

    status, code = 400, "validation_error"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(
            details={"errors": [{"field": error.field, "message": error.message} for error in errors]}
        )


class TooManySubmissions(RateLimited):
    """Too many form submissions. Try again later."""

    code = "rate_limit_exceeded"


class FormGenerationFailed(RetinueError):
    """The model did not return a usable form. Try again, or choose another model."""

    status, code = 502, "model_error"


class FormConversationNotFound(NotFound):
    """There is no such conversation."""

    code = "conversation_not_found"


class ConversationClosed(Conflict):
    """This conversation is over. Start a new one."""

    code = "conversation_closed"


class ConversationBusy(Conflict):
    """The previous message is still being answered. Try again in a moment."""

    code = "conversation_busy"


class ConversationTooLong(Conflict):
    """This conversation has become too long. Start a new one."""

    code = "conversation_too_long"


class ConversationNotEnabled(Conflict):
    """This form cannot be filled in by conversation."""

    code = "conversation_not_enabled"
