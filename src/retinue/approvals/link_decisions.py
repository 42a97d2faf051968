"""The page behind an approval link, and decisions sent through it as a form or as JSON."""

from urllib.parse import parse_qsl

import msgspec

from retinue.approvals import links, pages
from retinue.approvals.decisions import decide as store
from retinue.approvals.editable_input import parse_edited_input
from retinue.approvals.errors import ApprovalNotFound, NotAnApprover
from retinue.approvals.extra_input import parse_form_data
from retinue.approvals.form_controls import FIELD_PREFIX, SubmittedForm
from retinue.approvals.models import Approval
from retinue.approvals.queries import load_names, load_responses
from retinue.approvals.schemas import ApprovalOut, LinkDecision
from retinue.approvals.types import ApproverDecision
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidJson, RetinueError, UnsupportedMediaType
from retinue.kit.http.bodies import check_json_shape, read_body
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.request import Request
from retinue.kit.ignored_fields import report_unknown_keys
from retinue.kit.schema.validation import field_errors

_MAX_BODY_BYTES = 64 * 1024
_FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"


async def show(ctx: Context, token: str, request: Request) -> Reply[WebDocument]:
    try:
        approval, answered, _ = await links.load_link(ctx, token)
    except (ApprovalNotFound, NotAnApprover) as error:
        if "text/html" not in request.header(b"accept"):
            raise
        return pages.render_refused("This link cannot be used", error)
    return await pages.render_page(ctx, approval, answered)


async def decide(ctx: Context, token: str, request: Request) -> ApprovalOut | Reply[WebDocument]:
    """Store the decision; respond to a form with a page, to JSON with JSON."""
    body = await read_body(request.receive, _MAX_BODY_BYTES, request.headers.get(b"content-length"))
    media_type = request.header(b"content-type").partition(";")[0].strip().lower()
    approval, _, approver_ctx = await links.load_link(ctx, token)
    if media_type == _FORM_MEDIA_TYPE:
        return await _decide_by_form(ctx, approval, approver_ctx, body)
    if media_type not in {"", "application/json"}:
        raise UnsupportedMediaType(f"Send {_FORM_MEDIA_TYPE} or application/json.")
    async with approver_ctx:
        decided = await store(approver_ctx, approval.id, _decision(_read_json(ctx, body)))
        responses = await load_responses(approver_ctx, [approval.id])
        names = await load_names(approver_ctx, [decided], responses)
    return ApprovalOut.from_record(decided, responses[approval.id], names=names[approval.id])


async def _decide_by_form(
    ctx: Context, approval: Approval, approver_ctx: Context, body: bytes
) -> Reply[WebDocument]:
    texts: dict[str, list[str]] = {}
    try:
        texts = _read_form(body)
        decision = _decision(_form_decision(texts, approval))
        async with approver_ctx:
            decided = await store(approver_ctx, approval.id, decision)
    except Invalid as invalid:
        problems = {name: str(problem) for name, problem in (invalid.details or {}).items()}
        return await pages.render_page(ctx, approval, None, SubmittedForm(texts, problems))
    except RetinueError as error:
        if error.status >= 500:
            raise
        return pages.render_refused(approval.title, error)
    return pages.render_decided(decided, decision.verdict)


def _decision(sent: LinkDecision) -> ApproverDecision:
    return ApproverDecision(
        verdict="approved" if sent.decision == "approve" else "rejected",
        comment=sent.comment or None,
        data=sent.data,
        edited_input=sent.edited_input,
    )


def _read_json(ctx: Context, body: bytes) -> LinkDecision:
    check_json_shape(body)
    try:
        raw = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error
    decision = _validate(raw)
    report_unknown_keys(ctx.caller.ignored, raw, LinkDecision, "")
    return decision


def _read_form(body: bytes) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=500)
    except ValueError as error:
        raise Invalid({"body": "must be a valid form"}) from error
    sent: dict[str, list[str]] = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(value.replace("\0", ""))
    return sent


def _form_decision(sent: dict[str, list[str]], approval: Approval) -> LinkDecision:
    filled = {
        name.removeprefix(FIELD_PREFIX): texts
        for name, texts in sent.items()
        if name.startswith(FIELD_PREFIX)
    }
    is_approval = sent.get("decision", [""])[0] == "approve"
    return _validate(
        {
            "decision": sent.get("decision", [""])[0],
            "comment": sent.get("comment", [""])[0],
            "data": parse_form_data(approval.fields, filled),
            "edited_input": parse_edited_input(approval, sent) if is_approval else None,
        }
    )


def _validate(raw: object) -> LinkDecision:
    try:
        return msgspec.convert(raw, LinkDecision)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, raw, LinkDecision)) from error
