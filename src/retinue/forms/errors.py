from collections.abc import Sequence

from retinue.kit.errors import Conflict, NotFound, RateLimited, RetinueError
from retinue.kit.fields import FieldError


class FormNotFound(RetinueError):
    """There is no such form, or it is not published."""

    status, code = 404, "form_not_found"


class FormVersionNotFound(RetinueError):
    """The form has no such version."""

    status, code = 404, "version_not_found"


class SubmissionNotFound(RetinueError):
    """There is no such submission."""

    status, code = 404, "submission_not_found"


class FieldNotFound(RetinueError):
    """The form has no such field."""

    status, code = 404, "field_not_found"


class FormNotPublished(Conflict):
    """This form does not take submissions: it is not published."""

    code = "form_not_published"


class FormClosed(Conflict):
    """This form takes no more submissions."""

    code = "form_closed"


class AlreadySubmitted(Conflict):
    """You have submitted this form already."""

    code = "already_submitted"


class SubmissionInvalid(RetinueError):
    """Some answers are not valid."""

    status, code = 400, "validation_error"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(details={"errors": [{"field": one.field, "message": one.message} for one in errors]})


class TooManySubmissions(RateLimited):
    """Too many form submissions; try again later."""

    code = "rate_limit_exceeded"


class NoFormWritten(RetinueError):
    """The model did not answer with a form that can be used."""

    status, code = 502, "model_error"


class FormConversationNotFound(NotFound):
    """There is no such conversation."""

    code = "conversation_not_found"


class ConversationClosed(Conflict):
    """This conversation is over."""

    code = "conversation_closed"


class ConversationBusy(Conflict):
    """The message before this one is still being answered."""

    code = "conversation_busy"


class ConversationTooLong(Conflict):
    """This conversation has become too long; start another one."""

    code = "conversation_too_long"


class ConversationNotEnabled(Conflict):
    """This form is not filled in by talking."""

    code = "conversation_not_enabled"
