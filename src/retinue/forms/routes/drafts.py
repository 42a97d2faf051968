from retinue.forms import drafts
from retinue.forms.loaders import FormById
from retinue.forms.models import Form
from retinue.forms.schemas import FormDraftOut, FormDraftUpdate
from retinue.kit.context import Context
from retinue.kit.context.drafts import Draft
from retinue.kit.http.preconditions import expected_tags
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/forms/{form_id}/draft", tag="forms", wrap=True)


def _tagged(draft: Draft[Form]) -> Reply[FormDraftOut]:
    return Reply(drafts.render_draft(draft), headers=(("ETag", draft.etag),))


@routes.get("", requires="forms:read", handles_etag_itself=True)
async def get_form_draft(ctx: Context, this: FormById) -> Reply[FormDraftOut]:
    """Return the draft of the form: changes that are saved but not in use.

    Without a stored draft it is the form as it is now, with `is_stored: false`.
    """
    return _tagged(await drafts.load(ctx, this))


@routes.put("", requires="forms:write", handles_etag_itself=True)
async def save_form_draft(
    ctx: Context, this: FormById, body: FormDraftUpdate, request: Request
) -> Reply[FormDraftOut]:
    """Save the draft. The form in use stays as it is, and no version is made.

    Omitted properties of `content` keep what the draft says. The checks are those of changing the form;
    comparisons in conditions may still lack their value.
    """
    return _tagged(await drafts.save(ctx, this, body, expected_tags(request)))


@routes.delete("", requires="forms:write", status=204, handles_etag_itself=True)
async def discard_form_draft(ctx: Context, this: FormById, request: Request) -> None:
    """Discard the draft; the next one starts from the form as it is. Succeeds if there is none."""
    await drafts.discard(ctx, this, expected_tags(request))
