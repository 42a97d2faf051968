from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.tools import openapi_import
from retinue.tools.schemas import ImportOpenApi, ImportPreview, ImportQuery, ToolImported

routes = Routes("/v1/tools/import", tag="tools", wrap=True)

_MAX_DOCUMENT_BYTES = 8 * 1024 * 1024


@routes.post(
    "/openapi",
    requires="tools:write",
    status=201,
    other_status=200,
    body_limit=_MAX_DOCUMENT_BYTES,
    errors=(Forbidden, VaultSealed),
)
async def import_openapi(
    ctx: Context, query: ImportQuery, body: ImportOpenApi
) -> ToolImported | Reply[ImportPreview]:
    """Creates one `rest_api` tool with an endpoint for each operation of an OpenAPI 3 or Swagger 2 document.

    Parts that cannot be imported are listed in `skipped`. With `dry_run` nothing is stored and the answer is
    a preview with status 200.
    """
    if query.dry_run:
        return Reply(await openapi_import.preview(body), status=200)
    return await openapi_import.create(ctx, body)
