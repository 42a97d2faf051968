"""The call of a route's handler: its arguments from the request, its result as a response."""

from collections.abc import Sequence

from retinue.kit.context import Context
from retinue.kit.http import preconditions, replies, request_content, unknown_names
from retinue.kit.http.request import Request
from retinue.kit.http.request_content import RequestContent
from retinue.kit.http.routing import Route, load_arguments


async def call_handler(
    ctx: Context, request: Request, route: Route, segments: list[str], content: RequestContent
) -> replies.HttpResponse:
    arguments = await load_arguments(route, ctx, segments) if route.loaders else {}
    if route.query is not None:
        arguments["query"] = request_content.decode_query(request, route.query)
    if route.body is not None:
        arguments["body"] = request_content.decode_body(route, content.body)
    if route.upload is not None:
        arguments["form"] = content.form
    if route.takes_request:
        arguments["request"] = request
    unknown_parameters = unknown_names.find_unknown_parameters(request, route) if request.query_string else ()
    ignored = ctx.caller.ignored
    if ignored is not None:
        unknown_names.report_unknown_names(ctx.instance.registry.routes, route, content, ignored)
    if route.versioned is not None:
        preconditions.expect_version(ctx, request, route, arguments)
    result = await route.handler(ctx, **arguments)
    response = replies.render_response(result, route.status, wrap=route.wrap)
    if route.versioned is not None:
        await preconditions.tag_answer(ctx, route, arguments, result, response)
    unplaced: Sequence[str] = ()
    if ignored is not None and ignored.has_paths:
        unplaced = unknown_names.add_warnings(route, content, result, response, ignored)
    if unplaced or unknown_parameters:
        unknown_names.add_warnings_header(response, (*unplaced, *unknown_parameters))
    return response
