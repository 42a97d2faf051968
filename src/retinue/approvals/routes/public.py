from retinue.approvals import link_decisions, links
from retinue.approvals.errors import (
    AlreadyResponded,
    ApprovalAlreadyResolved,
    ApprovalExpired,
    ApprovalNotFound,
    NotAnApprover,
)
from retinue.approvals.schemas import ApprovalOut
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidJson, PayloadTooLarge, UnsupportedMediaType
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes(links.PATH, tag="approvals")


@routes.get("/{token}", requires=PUBLIC, errors=(ApprovalNotFound, NotAnApprover))
async def get_approval_page(ctx: Context, token: str, request: Request) -> Reply[WebDocument]:
    """Return the page behind the link of an approval mail. Opening it decides nothing."""
    return await link_decisions.show(ctx, token, request)


@routes.post(
    "/{token}",
    requires=PUBLIC,
    idempotent=False,
    wrap=True,
    calls_out=True,
    reads_body=True,
    errors=(
        ApprovalNotFound,
        NotAnApprover,
        ApprovalAlreadyResolved,
        AlreadyResponded,
        ApprovalExpired,
        Invalid,
        InvalidJson,
        PayloadTooLarge,
        UnsupportedMediaType,
    ),
)
async def decide_by_link(ctx: Context, token: str, request: Request) -> ApprovalOut | Reply[WebDocument]:
    """Decide as the approver that the link was sent to, without signing in.

    The body is JSON, `{ decision, comment, data, edited_input }` with `approve` or `reject` as the decision
    and the rest as in the approve endpoint, or the form of the page, which is answered with a page.
    """
    return await link_decisions.decide(ctx, token, request)
