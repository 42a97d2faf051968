from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.tools import importing
from retinue.tools.schemas import ImportOpenApi, ImportPreview, ImportQuery, ToolImported

routes = Routes("/v1/tools/import", tag="tools", wrap=True)

_LARGEST_DOCUMENT = 8 * 1024 * 1024


@routes.post(
    "/openapi",
    requires="tools:write",
    status=201,
    other_status=200,
    body_limit=_LARGEST_DOCUMENT,
    errors=(Forbidden, VaultSealed),
)
async def import_openapi(
    ctx: Context, query: ImportQuery, body: ImportOpenApi
) -> ToolImported | Reply[ImportPreview]:
    """Makes one REST tool of an OpenAPI 3 or Swagger 2 document; `dry_run` only shows it, with status 200."""
    if query.dry_run:
        return Reply(await importing.preview(body), status=200)
    return await importing.create(ctx, body)
