from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.forms import analytics, options, prompting
from retinue.forms import service as forms
from retinue.forms.errors import FieldNotFound, FormVersionNotFound, NoFormWritten
from retinue.forms.loaders import FormById, FormBySlug
from retinue.forms.models import FormStatus
from retinue.forms.opening import opened
from retinue.forms.schemas import (
    Analytics,
    AnalyticsQuery,
    FormCopy,
    FormCreate,
    FormList,
    FormOut,
    FormPrompt,
    FormState,
    FormSummary,
    FormUpdate,
    FormVersionOut,
    Option,
    OptionsQuery,
)
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition, VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.providers.errors import ModelNotConfigured

routes = Routes("/api/v1/forms", tag="forms", wrap=True)


@routes.get("", requires="forms:read", wrap=False)
async def list_forms(ctx: Context, query: FormList) -> Page[FormSummary]:
    return await forms.page(ctx, query)


@routes.post("", requires="forms:write", status=201)
async def create_form(ctx: Context, body: FormCreate) -> FormOut:
    return await forms.shown(ctx, await forms.create(ctx, body))


@routes.post(
    "/generate",
    requires="forms:write",
    cost="chat",
    status=201,
    calls_out=True,
    errors=(ModelNotConfigured, ModelError, ModelTimeout, NoFormWritten, VaultSealed),
)
async def generate_form(ctx: Context, body: FormPrompt) -> FormOut:
    """A draft that a model wrote from words; it is checked like any other."""
    written = await prompting.write(ctx, body)
    return await forms.shown(ctx, await forms.create(ctx, written))


@routes.get("/slug/{form_slug}", requires="forms:read")
async def get_form_by_slug(ctx: Context, this: FormBySlug) -> FormOut:
    return await forms.shown(ctx, this)


@routes.get("/{form_id}", requires="forms:read")
async def get_form(ctx: Context, this: FormById) -> FormOut:
    return await forms.shown(ctx, this)


@routes.put("/{form_id}", requires="forms:write")
async def update_form(ctx: Context, this: FormById, body: FormUpdate) -> FormOut:
    """Other fields of a form that was ever published are another version of it."""
    return await forms.shown(ctx, await forms.update(ctx, this, body))


@routes.delete("/{form_id}", requires="forms:write", status=204)
async def delete_form(ctx: Context, this: FormById) -> None:
    """With its submissions and their files."""
    await forms.delete(ctx, this)


@routes.post("/{form_id}/publish", requires="forms:write", errors=(InvalidTransition,))
async def publish_form(ctx: Context, this: FormById) -> FormState:
    return await forms.move(ctx, this, FormStatus.published)


@routes.post("/{form_id}/unpublish", requires="forms:write", errors=(InvalidTransition,))
async def unpublish_form(ctx: Context, this: FormById) -> FormState:
    """Back to a draft, also from the archive."""
    return await forms.move(ctx, this, FormStatus.draft)


@routes.post("/{form_id}/archive", requires="forms:write", errors=(InvalidTransition,))
async def archive_form(ctx: Context, this: FormById) -> FormState:
    return await forms.move(ctx, this, FormStatus.archived)


@routes.post("/{form_id}/duplicate", requires="forms:write", status=201)
async def duplicate_form(ctx: Context, this: FormById) -> FormCopy:
    return FormCopy.shown(await forms.duplicate(ctx, this))


@routes.get("/{form_id}/versions", requires="forms:read")
async def list_form_versions(ctx: Context, this: FormById) -> list[FormVersionOut]:
    return [FormVersionOut.shown(version) for version in await forms.versions(ctx, this)]


@routes.get("/{form_id}/versions/{version}", requires="forms:read", errors=(FormVersionNotFound,))
async def get_form_version(ctx: Context, this: FormById, version: str) -> FormVersionOut:
    return FormVersionOut.shown(await forms.fetch_version(ctx, this, version))


@routes.get("/{form_id}/analytics", requires="forms:read")
async def get_form_analytics(ctx: Context, this: FormById, query: AnalyticsQuery) -> Analytics:
    return await analytics.collect(ctx, this, query)


@routes.get("/{form_id}/fields/{field_id}/options", requires="forms:read", errors=(FieldNotFound,))
async def list_field_options(
    ctx: Context, this: FormById, field_id: str, query: OptionsQuery
) -> list[Option]:
    return await options.options(ctx, opened(this), field_id, query)
