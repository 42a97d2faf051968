from retinue.forms.errors import FormNotFound
from retinue.forms.intake.public import fetch_published
from retinue.forms.pages import page
from retinue.forms.pages.script import form_script
from retinue.kit.context import Context
from retinue.kit.http.page_scripts import ScriptQuery, serve_script
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.schema.base import Schema

routes = Routes("", tag="public forms")


class FormPageQuery(Schema, kw_only=True):
    """With `embed`, other sites may show the page in a frame."""

    embed: str | None = None


@routes.get("/embed/form.js", requires=PUBLIC, cost="free", other_status=304)
async def get_form_script(
    ctx: Context,  # noqa: ARG001  every handler takes it
    query: ScriptQuery,
    request: Request,
) -> Reply[WebDocument | None]:
    """Return the script that draws a form on another site.

    Any origin may load it. With the current version as `v` it may be cached for a year, otherwise for an
    hour.
    """
    return serve_script(form_script(), query, request)


@routes.get("/f/{form_slug}", requires=PUBLIC, errors=(FormNotFound,))
async def get_form_page(
    ctx: Context, form_slug: str, query: FormPageQuery, request: Request
) -> Reply[WebDocument]:
    """Return the page of a published form.

    Loading the page counts no view; its script then requests the public form, which does.
    """
    try:
        form = await fetch_published(ctx, form_slug, request)
    except FormNotFound:
        if "text/html" in request.header(b"accept"):
            return page.render_not_found()
        raise
    return page.render_page(form, is_framed=query.embed is not None)
