from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.forms import drafts, generation, preview
from retinue.forms import service as forms
from retinue.forms.after import analytics
from retinue.forms.errors import FieldNotFound, FormDraftNotFound, FormGenerationFailed, FormVersionNotFound
from retinue.forms.intake import options
from retinue.forms.loaders import FormById, FormBySlug
from retinue.forms.models import Form, FormStatus
from retinue.forms.open_form import to_open_form
from retinue.forms.schemas import (
    Analytics,
    AnalyticsQuery,
    FormCopy,
    FormCreate,
    FormList,
    FormOut,
    FormPreview,
    FormPreviewRequest,
    FormPrompt,
    FormQuery,
    FormState,
    FormSummary,
    FormUpdate,
    FormVersionOut,
    Option,
    OptionsQuery,
)
from retinue.kit.context import Context
from retinue.kit.context.drafts import DraftOutdated
from retinue.kit.errors import InvalidTransition, VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.kit.schema.drafts import DraftPublication
from retinue.providers.errors import ModelNotConfigured
from retinue.usage.errors import BudgetExceeded, ModelUnpriced

routes = Routes("/api/v1/forms", tag="forms", wrap=True)


@routes.get("", requires="forms:read", wrap=False)
async def list_forms(ctx: Context, query: FormList) -> Page[FormSummary]:
    """List the tenant's forms, newest first unless `sort` says otherwise.

    Field definitions and settings are left out.
    """
    return await forms.page(ctx, query)


@routes.post("", requires="forms:write", status=201, versioned=Form)
async def create_form(ctx: Context, body: FormCreate) -> FormOut:
    """Create a form as a draft. Publish it to make it public and accept submissions."""
    return await forms.render_form(ctx, await forms.create(ctx, body))


@routes.post(
    "/generate",
    requires="forms:write",
    cost="chat",
    status=201,
    calls_out=True,
    errors=(
        BudgetExceeded,
        ModelNotConfigured,
        ModelError,
        ModelTimeout,
        ModelUnpriced,
        FormGenerationFailed,
        VaultSealed,
    ),
)
async def generate_form(ctx: Context, body: FormPrompt) -> FormOut:
    """Let a model write a form from a description, and store it as a draft.

    The result is validated like any other form. If the model returns nothing usable: 502 `model_error`.
    """
    proposed = await generation.generate_form(ctx, body)
    return await forms.render_form(ctx, await forms.create(ctx, proposed))


@routes.post("/preview", requires="forms:write")
async def preview_form(ctx: Context, body: FormPreviewRequest) -> FormPreview:
    """Return what visitors of a form would get, without saving it, and check answers if `data` is sent.

    Nothing is stored or sent. Whether a file exists and whether the form is open are not checked.
    """
    return await preview.preview(ctx, body)


@routes.get("/slug/{form_slug}", requires="forms:read", versioned=Form)
async def get_form_by_slug(ctx: Context, this: FormBySlug) -> FormOut:
    """Return a form of the tenant by its slug, in any state."""
    return await forms.render_form(ctx, this)


@routes.get("/{form_id}", requires="forms:read", versioned=Form)
async def get_form(ctx: Context, this: FormById, query: FormQuery) -> FormOut:
    """Return a form with its fields, settings and totals."""
    if query.include == "answer_counts":
        return await forms.render_form(ctx, this, await analytics.count_answers(ctx, this))
    return await forms.render_form(ctx, this)


@routes.put("/{form_id}", requires="forms:write", versioned=Form)
async def update_form(ctx: Context, this: FormById, body: FormUpdate) -> FormOut:
    """Change the given properties of a form; the others stay unchanged.

    New fields take effect at once. If the form was ever published, they create a new version, and earlier
    submissions keep the fields they were made with.
    """
    return await forms.render_form(ctx, await forms.update(ctx, this, body))


@routes.delete("/{form_id}", requires="forms:write", status=204, versioned=Form)
async def delete_form(ctx: Context, this: FormById) -> None:
    """Delete a form with its submissions, their files and its conversations.

    The form disappears at once; the rest is erased in the background.
    """
    await forms.delete(ctx, this)


@routes.post(
    "/{form_id}/publish",
    requires="forms:write",
    errors=(InvalidTransition, DraftOutdated, FormDraftNotFound),
    versioned=Form,
)
async def publish_form(ctx: Context, this: FormById, body: DraftPublication) -> FormState:
    """Make the form, or with `from_draft` what its draft says, public and accept submissions.

    A published form stays as it is unless its draft is published; an archived one answers 409 and must be
    unpublished first. If the form has changed since its draft was begun, the answer is 412
    `version_conflict` unless `force` is set. A draft that was published is gone.
    """
    return await drafts.publish(ctx, this, body)


@routes.post("/{form_id}/unpublish", requires="forms:write", errors=(InvalidTransition,), versioned=Form)
async def unpublish_form(ctx: Context, this: FormById) -> FormState:
    """Turn a published or archived form back into a draft.

    It stops accepting submissions; existing ones are kept.
    """
    return await forms.change_status(ctx, this, FormStatus.draft)


@routes.post("/{form_id}/archive", requires="forms:write", errors=(InvalidTransition,), versioned=Form)
async def archive_form(ctx: Context, this: FormById) -> FormState:
    """Archive a draft or published form. It stops accepting submissions; existing ones are kept."""
    return await forms.change_status(ctx, this, FormStatus.archived)


@routes.post("/{form_id}/duplicate", requires="forms:write", status=201, versioned=Form)
async def duplicate_form(ctx: Context, this: FormById) -> FormCopy:
    """Copy a form as a draft with a new id and slug.

    Fields, settings, branding, workflow and data table are copied; submissions are not.
    """
    return FormCopy.from_record(await forms.duplicate(ctx, this))


@routes.get("/{form_id}/versions", requires="forms:read")
async def list_form_versions(ctx: Context, this: FormById) -> list[FormVersionOut]:
    """Return all versions of a form's fields, newest first."""
    return [FormVersionOut.from_record(version) for version in await forms.versions(ctx, this)]


@routes.get("/{form_id}/versions/{version}", requires="forms:read", errors=(FormVersionNotFound,))
async def get_form_version(ctx: Context, this: FormById, version: str) -> FormVersionOut:
    """Return the fields of one version of a form, for example that of an old submission."""
    return FormVersionOut.from_record(await forms.fetch_version(ctx, this, version))


@routes.get("/{form_id}/analytics", requires="forms:read")
async def get_form_analytics(ctx: Context, this: FormById, query: AnalyticsQuery) -> Analytics:
    """Return views, starts, submissions and drop-off of a form for a period. All rates are percentages."""
    return await analytics.load_analytics(ctx, this, query)


@routes.get("/{form_id}/fields/{field_id}/options", requires="forms:read", errors=(FieldNotFound,))
async def list_field_options(
    ctx: Context, this: FormById, field_id: str, query: OptionsQuery
) -> list[Option]:
    """Return the options of a field of the form, in any state.

    They come from the field's data table, or from its own `options` if it has no data source. If the table or
    column no longer exists, the list is empty.
    """
    return await options.list_options(ctx, to_open_form(this), field_id, query)
