"""A form as a tool: `config.kind = "form"`; the input are the answers by field, and they are submitted."""

from typing import Any

from retinue.forms.errors import FormNotFound, SubmissionInvalid
from retinue.forms.models import Form
from retinue.forms.opening import opened
from retinue.forms.schemas import Submit
from retinue.forms.submitting import submit
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.tool_kinds import ToolRun

_LONGEST_ERROR = 1000


class AnswersInvalid(RetinueError):
    """The answers are not valid."""

    status, code = 422, "validation_error"


class ToolNotConfigured(RetinueError):
    """config.form_id must name a form."""

    status, code = 422, "not_configured"


async def run(ctx: Context, call: ToolRun) -> Any:
    """The submission, with the workflow that it started."""
    form_id = call.config.get("form_id")
    if not isinstance(form_id, str) or not form_id:
        raise ToolNotConfigured
    async with ctx.unit() as unit:
        form = await unit.db.get(Form, form_id)
        if form is None:
            raise FormNotFound
        try:
            stored = await submit(unit, opened(form), Submit(data=call.input), source="tool")
        except SubmissionInvalid as invalid:
            # Whoever calls a tool reads the message, and is to know what to say instead.
            said = "; ".join(f"{one['field']}: {one['message']}" for one in (invalid.details or {})["errors"])
            raise AnswersInvalid(said[:_LONGEST_ERROR]) from None
    return {
        "submission_id": stored.id,
        "status": stored.status,
        "workflow_execution_id": stored.workflow_execution_id,
    }
