"""What a link opens, and a decision that comes through it: the page's form, or the same as JSON."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec

from retinue.approvals import links, pages
from retinue.approvals.controls import PREFIX, Filled
from retinue.approvals.deciding import decide as store
from retinue.approvals.errors import ApprovalNotFound, NotAnApprover
from retinue.approvals.extra_input import sent_by_form
from retinue.approvals.models import Approval
from retinue.approvals.queries import responses_to
from retinue.approvals.schemas import ApprovalOut, LinkDecision
from retinue.approvals.words import Decision
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidJson, RetinueError, UnsupportedMediaType
from retinue.kit.http.bodies import check_json_shape, read_body
from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.request import Request
from retinue.kit.validation import field_errors

_MOST_BYTES = 64 * 1024
_FORM = "application/x-www-form-urlencoded"


async def show(ctx: Context, token: str, request: Request) -> Reply[Document]:
    try:
        approval, answered, _ = await links.fetch(ctx, token)
    except (ApprovalNotFound, NotAnApprover) as error:
        if "text/html" not in request.header(b"accept"):
            raise
        return pages.refused("This link cannot be used", error)
    return pages.page(approval, answered, ctx.now)


async def decide(ctx: Context, token: str, request: Request) -> ApprovalOut | Reply[Document]:
    """Answers as it was asked: a form with a page, JSON with JSON."""
    body = await read_body(request.receive, _MOST_BYTES, request.headers.get(b"content-length"))
    media_type = request.header(b"content-type").partition(";")[0].strip().lower()
    approval, _, as_user = await links.fetch(ctx, token)
    if media_type == _FORM:
        return await _by_form(approval, as_user, body)
    if media_type not in {"", "application/json"}:
        raise UnsupportedMediaType(f"Send {_FORM} or application/json.")
    async with as_user:
        decided = await store(as_user, approval.id, _decision(_read_json(body)))
        responses = (await responses_to(as_user, [approval.id]))[approval.id]
    return ApprovalOut.shown(decided, responses)


async def _by_form(approval: Approval, as_user: Context, body: bytes) -> Reply[Document]:
    texts: dict[str, list[str]] = {}
    try:
        texts = _read_form(body)
        decision = _decision(_chosen(texts, approval))
        async with as_user:
            decided = await store(as_user, approval.id, decision)
    except Invalid as invalid:
        problems = {name: str(why) for name, why in (invalid.details or {}).items()}
        return pages.page(approval, None, as_user.now, Filled(texts, problems))
    except RetinueError as error:
        if error.status >= 500:
            raise
        return pages.refused(approval.title, error)
    return pages.decided(decided, decision.verdict)


def _decision(sent: LinkDecision) -> Decision:
    return Decision(
        verdict="approved" if sent.decision == "approve" else "rejected",
        comment=sent.comment or None,
        data=sent.data,
        edited_input=sent.edited_input,
    )


def _read_json(body: bytes) -> LinkDecision:
    check_json_shape(body)
    try:
        raw = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error
    return _checked(raw)


def _read_form(body: bytes) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=500)
    except ValueError as error:
        raise Invalid({"body": "is not a form"}) from error
    sent: dict[str, list[str]] = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(value.replace("\0", ""))
    return sent


def _chosen(sent: dict[str, list[str]], approval: Approval) -> LinkDecision:
    filled = {name.removeprefix(PREFIX): texts for name, texts in sent.items() if name.startswith(PREFIX)}
    return _checked(
        {
            "decision": sent.get("decision", [""])[0],
            "comment": sent.get("comment", [""])[0],
            "data": sent_by_form(approval.fields, filled),
        }
    )


def _checked(raw: Any) -> LinkDecision:
    try:
        return msgspec.convert(raw, LinkDecision)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, raw, LinkDecision)) from error
