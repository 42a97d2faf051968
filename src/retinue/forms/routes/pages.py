from retinue.forms.errors import FormNotFound
from retinue.forms.pages import page
from retinue.forms.pages.script import script
from retinue.forms.public import fetch_published
from retinue.kit.context import Context
from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.http.scripts import ScriptQuery, serve_script
from retinue.kit.schemas import Schema

routes = Routes("", tag="public forms")


class PageQuery(Schema, kw_only=True):
    """With `embed` another site may show the page in a frame."""

    embed: str | None = None


@routes.get("/embed/form.js", requires=PUBLIC, cost="free", other_status=304)
async def get_form_script(
    ctx: Context,  # noqa: ARG001  every handler takes it
    query: ScriptQuery,
    request: Request,
) -> Reply[Document | None]:
    return serve_script(script(), query, request)


@routes.get("/f/{form_slug}", requires=PUBLIC, errors=(FormNotFound,))
async def get_form_page(ctx: Context, form_slug: str, query: PageQuery, request: Request) -> Reply[Document]:
    """The form as a page. Its script asks for the public form, and that is what counts as a view."""
    try:
        form = await fetch_published(ctx, form_slug, request)
    except FormNotFound:
        if "text/html" in request.header(b"accept"):
            return page.missing()
        raise
    return page.page(form, is_framed=query.embed is not None)
