from retinue.approvals import from_links, links
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
from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes(links.PATH, tag="approvals")


@routes.get("/{token}", requires=PUBLIC, errors=(ApprovalNotFound, NotAnApprover))
async def get_approval_page(ctx: Context, token: str, request: Request) -> Reply[Document]:
    """The page of a link; opening it decides nothing, however often a mail scanner does."""
    return await from_links.show(ctx, token, request)


@routes.post(
    "/{token}",
    requires=PUBLIC,
    idempotent=False,
    wrap=True,
    calls_out=True,
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
async def decide_by_link(ctx: Context, token: str, request: Request) -> ApprovalOut | Reply[Document]:
    """`{ decision: approve | reject, comment, data, edited_input }`, or the form of the page."""
    return await from_links.decide(ctx, token, request)
