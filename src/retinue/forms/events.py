from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

_EXAMPLE = {
    "form_id": "frm_…",
    "name": "Contact",
    "slug": "contact",
    "status": "published",
    "version": 2,
}
_DRAFT = {"form_id": "frm_…", "name": "Contact"}
_SUBMISSION = {
    "form_id": "frm_…",
    "form_name": "Contact",
    "submission_id": "sbm_…",
    "status": "received",
    "previous_status": None,
    "data": {"email": "ada@example.com"},
    "metadata": {"source": "public"},
    "workflow_execution_id": None,
}


class FormEvent(Event, kw_only=True):
    form_id: str
    name: str
    slug: str
    status: str
    version: int


@event("form.created", subject="form_id", audited=True, example={**_EXAMPLE, "status": "draft", "version": 1})
class FormCreated(FormEvent, kw_only=True):
    """A form was created."""


@event("form.updated", subject="form_id", audited=True, example=_EXAMPLE)
class FormUpdated(FormEvent, kw_only=True):
    """A form was changed."""


@event("form.deleted", subject="form_id", audited=True, example=_EXAMPLE)
class FormDeleted(FormEvent, kw_only=True):
    """A form was deleted with its submissions."""


@event("form.published", subject="form_id", audited=True, example=_EXAMPLE)
class FormPublished(FormEvent, kw_only=True):
    """A form was published."""


class FormDraftEvent(Event, kw_only=True):
    form_id: str
    name: str


@event("system.form_draft.saved", subject="form_id", audited=True, example=_DRAFT)
class FormDraftSaved(FormDraftEvent, kw_only=True):
    """The draft of a form was saved; the form itself stays as it is."""


@event("system.form_draft.discarded", subject="form_id", audited=True, example=_DRAFT)
class FormDraftDiscarded(FormDraftEvent, kw_only=True):
    """The draft of a form was discarded without being published."""


class FormSubmissionEvent(Event, kw_only=True):
    form_id: str
    form_name: str
    submission_id: str
    status: str
    previous_status: str | None = None
    data: JsonObject
    metadata: JsonObject
    workflow_execution_id: str | None = None


@event("form.submission.created", subject="submission_id", example=_SUBMISSION)
class FormSubmissionCreated(FormSubmissionEvent, kw_only=True):
    """A form was submitted."""


@event(
    "form.submission.updated",
    subject="submission_id",
    example={**_SUBMISSION, "status": "processed", "previous_status": "received"},
)
class FormSubmissionUpdated(FormSubmissionEvent, kw_only=True):
    """A submission was changed."""
