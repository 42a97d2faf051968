"""Preview of a form that need not be saved: what visitors would see, and what their answers would meet."""

from msgspec import UNSET

from retinue.forms import service
from retinue.forms.form_settings import public_settings, validate_branding, validate_settings
from retinue.forms.intake import options
from retinue.forms.models import Form
from retinue.forms.open_form import OpenForm, to_open_form
from retinue.forms.schemas import (
    AnswerProblem,
    FormPreview,
    FormPreviewRequest,
    Option,
    OptionsQuery,
    PublicForm,
)
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject


async def preview(ctx: Context, body: FormPreviewRequest) -> FormPreview:
    """Return the form as its page would get it; nothing is stored."""
    form = Form(
        name=body.name,
        slug="preview",
        description=body.description or "",
        fields=service.read_form_fields(ctx, body.fields),
        settings=validate_settings(ctx, body.settings),
        branding=validate_branding(ctx, body.branding),
        created_by=ctx.principal.id,
    )
    opened = to_open_form(form)
    return FormPreview(
        form=PublicForm.of(form, settings=public_settings(form.settings), token=UNSET),
        options=await _options_of_tables(ctx, opened),
        errors=UNSET if body.data is UNSET else await _find_problems(ctx, opened, body.data),
    )


async def _options_of_tables(ctx: Context, form: OpenForm) -> dict[str, list[Option]]:
    fields = (field.id for field in form.fields.asked if field.definition.get("data_source") is not None)
    return {id: await options.list_options(ctx, form, id, OptionsQuery()) for id in fields}


async def _find_problems(ctx: Context, form: OpenForm, data: JsonObject) -> list[AnswerProblem]:
    checked = form.fields.check(data)
    errors = checked.errors or await options.find_invalid_choices(ctx, form, checked.values)
    return [AnswerProblem.of(error) for error in errors]
