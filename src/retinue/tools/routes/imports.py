from retinue.adapters.openapi import DocumentReaderUnavailable
from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.tools import openapi_import
from retinue.tools.errors import McpServerFailed, McpServerNotAllowed
from retinue.tools.mcp_servers import server_import
from retinue.tools.schemas import (
    ImportMcp,
    ImportOpenApi,
    ImportPreview,
    ImportQuery,
    McpImported,
    McpImportPreview,
    ToolImported,
)

routes = Routes("/v1/tools/import", tag="tools", wrap=True)

# A text of 16 MiB is longer as a JSON string, in which line ends and quotes are escaped.
_MAX_BODY_BYTES = 24 * 1024 * 1024


@routes.post(
    "/openapi",
    requires="tools:write",
    status=201,
    other_status=200,
    calls_out=True,
    body_limit=_MAX_BODY_BYTES,
    # Those of the document are not decoded here.
    max_keys=None,
    errors=(Forbidden, VaultSealed, DocumentReaderUnavailable, ReadersBusy),
)
async def import_openapi(
    ctx: Context, query: ImportQuery, body: ImportOpenApi
) -> ToolImported | Reply[ImportPreview]:
    """Create one `rest_api` tool with an endpoint for each operation of an OpenAPI 3 or Swagger 2 document.

    With `url` in place of `document` the server fetches it, where outgoing calls may go: https, at most 16
    MiB, 20 seconds and three redirects.

    Parts that cannot be imported are listed in `skipped`. With `dry_run` nothing is stored and the answer is
    a preview with status 200.
    """
    if query.dry_run:
        return Reply(await openapi_import.preview(ctx, body), status=200)
    return await openapi_import.create(ctx, body)


@routes.post(
    "/mcp",
    requires="tools:write",
    status=201,
    other_status=200,
    calls_out=True,
    errors=(Forbidden, VaultSealed, McpServerFailed, McpServerNotAllowed),
)
async def import_mcp(
    ctx: Context, query: ImportQuery, body: ImportMcp
) -> McpImported | Reply[McpImportPreview]:
    """List an MCP server and create one tool with a function for each tool of the server.

    Functions that the server calls destructive need an approval. Functions that cannot be imported are listed
    in `skipped`. With `dry_run` no tool is stored and the answer is a preview with status 200.
    """
    if query.dry_run:
        return Reply(await server_import.preview(ctx, body), status=200)
    return await server_import.create(ctx, body)
