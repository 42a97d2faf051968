"""Forms as tools: `config.kind = "form"`; the input is submitted as answers by field."""

from typing import Any, Literal

from retinue.forms.errors import FormNotFound, SubmissionInvalid
from retinue.forms.intake.submit import submit
from retinue.forms.models import Form
from retinue.forms.open_form import to_open_form
from retinue.forms.schemas import Submit
from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import ToolConfig, ToolKind, ToolRun, parse_tool_config
from retinue.kit.errors import InternalError

_MAX_ERROR_LENGTH = 1000


class FormToolInputInvalid(InternalError):
    """The answers are not valid."""

    code = "validation_error"
    shown_in = "tool executions"


class FormToolNotConfigured(InternalError):
    """Set config.form_id to the id of a form."""

    code = "not_configured"
    shown_in = "tool executions"


class FormToolConfig(ToolConfig, kw_only=True):
    """Configuration of a `custom` tool that submits a form."""

    kind: Literal["form"]
    form_id: str


async def run(ctx: Context, call: ToolRun) -> Any:
    """Submit the answers and return the submission with the workflow it started."""
    config = parse_tool_config(call, FormToolConfig, FormToolNotConfigured)
    if not config.form_id:
        raise FormToolNotConfigured
    async with ctx.unit() as unit:
        form = await unit.db.get(Form, config.form_id)
        if form is None:
            raise FormNotFound
        try:
            stored = await submit(unit, to_open_form(form), Submit(data=call.input), source="tool")
        except SubmissionInvalid as invalid:
            # Callers of a tool see only the message, so it has to name the fields to correct.
            problems = [
                f"{error['field']}: {error['message']}" for error in (invalid.details or {})["errors"]
            ]
            raise FormToolInputInvalid("; ".join(problems)[:_MAX_ERROR_LENGTH]) from None
    return {
        "submission_id": stored.id,
        "status": stored.status,
        "workflow_execution_id": stored.workflow_execution_id,
    }


TOOL_KIND = ToolKind(name="form", run=run, config=FormToolConfig)
