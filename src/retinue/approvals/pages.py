"""The page behind an approval link: shows what will happen and asks for a decision, without scripts."""

from html import escape

from retinue.approvals import editable_input
from retinue.approvals.form_controls import FIELD_PREFIX, SubmittedForm, render_controls
from retinue.approvals.models import Approval, ApprovalResponse, ApprovalStatus
from retinue.approvals.summary import (
    describe_requester,
    format_deadline,
    format_value,
    requested_values,
    source_facts,
)
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.http.replies import Reply, WebDocument

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = (("Cache-Control", "no-store"), ("X-Robots-Tag", "noindex"))

_PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{title} · Retinue</title>
    <link rel="stylesheet" href="../../../../style/pages.css">
  </head>
  <body>
    <header class="bar"><span class="brand">Retinue <span>approval</span></span></header>
    <main class="wide">
      <h1>{title}</h1>
{content}
    </main>
  </body>
</html>
"""
_FORM = """      <form method="post">
{fields}        <div class="field">
          <label for="comment">Comment</label>
          <textarea id="comment" name="comment" maxlength="4000" rows="3">{comment}</textarea>
        </div>
        <div class="answers">
          <button class="send" name="decision" value="approve">Approve</button>
          <button name="decision" value="reject">Reject</button>
        </div>
      </form>
"""
_STATES = {
    ApprovalStatus.approved: "This was approved.",
    ApprovalStatus.rejected: "This was rejected.",
    ApprovalStatus.timeout: "Nobody decided this in time.",
    ApprovalStatus.cancelled: "This request was cancelled.",
}


async def render_page(
    ctx: Context, approval: Approval, answered: ApprovalResponse | None, filled: SubmittedForm | None = None
) -> Reply[WebDocument]:
    """Render the request, with the form and its problems while this approver can decide."""
    about = await _about(ctx, approval)
    notice = _closed_reason(approval, answered, ctx.now)
    if notice:
        requested = [(name, format_value(value)) for name, value in requested_values(approval).items()]
        edited = [(name, format_value(value)) for name, value in (approval.edited_input or {}).items()]
        parts = [*about, *_list("What was requested", requested), *_list("What an approver changed", edited)]
        return _reply(approval.title, [*parts, _result(notice)])
    filled = filled or SubmittedForm()
    readonly_rows = editable_input.readonly_facts(approval)
    fields = editable_input.render_edit_controls(approval, filled) + render_controls(approval.fields, filled)
    form = _FORM.format(fields=fields, comment=escape(filled.text("comment")))
    problems = [_result(problem, "bad") for problem in _problems(approval, filled)]
    parts = [*about, *_list("What will happen", readonly_rows), _until(approval), *problems, form]
    return _reply(approval.title, parts, 422 if problems else None)


def _closed_reason(approval: Approval, answered: ApprovalResponse | None, now: Instant) -> str:
    """Return why nothing can be decided here any more; empty if something can."""
    if approval.status is not ApprovalStatus.pending:
        return _STATES[approval.status]
    if approval.expires_at <= now:
        return _STATES[ApprovalStatus.timeout]
    return f"You have {answered.decision} this. It waits for others." if answered is not None else ""


def _problems(approval: Approval, filled: SubmittedForm) -> list[str]:
    """Return a summary of the problems; those of a field are shown beside it."""
    known_names = {f"{FIELD_PREFIX}{field['id']}" for field in approval.fields}
    known_names |= {
        f"{editable_input.EDIT_PREFIX}{name}" for name in editable_input.editable_values(approval)
    }
    others = [f"{name} {problem}." for name, problem in filled.problems.items() if name not in known_names]
    is_marked = len(others) < len(filled.problems)
    return [*others, *(["Nothing is decided yet. Please correct the marked fields."] if is_marked else [])]


def render_decided(approval: Approval, verdict: str) -> Reply[WebDocument]:
    notice = f"You have {verdict} this."
    if approval.status is ApprovalStatus.pending:
        missing = approval.required_approvals - approval.approvals_received
        notice += f" It needs {missing} more approval{'s' if missing > 1 else ''}."
    return _reply(approval.title, [_result(notice)])


def render_refused(title: str, error: RetinueError) -> Reply[WebDocument]:
    return _reply(title, [_result(error.message, "bad")], error.status)


def _reply(title: str, parts: list[str], status: int | None = None) -> Reply[WebDocument]:
    text = _PAGE.format(title=escape(title), content="".join(parts))
    # No caching: the address contains the token.
    return Reply(WebDocument(text.encode(), policy=CONTENT_SECURITY_POLICY), status, _HEADERS)


async def _about(ctx: Context, approval: Approval) -> list[str]:
    """Return the paragraphs on who asks and why."""
    who = await describe_requester(ctx, approval, with_address=True)
    reason = [line for line in approval.description.splitlines() if line.strip()]
    return [
        f"      <p><strong>{escape(who)}</strong> asks for your approval.</p>\n",
        *(f"      <p>{escape(line)}</p>\n" for line in reason),
        *_list("", await source_facts(ctx, approval)),
    ]


def _list(title: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    heading = [f"      <h2>{escape(title)}</h2>\n"] if title else []
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    return [*heading, f'      <dl class="facts" tabindex="0">{items}</dl>\n']


def _until(approval: Approval) -> str:
    return f'      <p class="hint">Decide it before {escape(format_deadline(approval))}.</p>\n'


def _result(text: str, kind: str = "good") -> str:
    return f'      <p class="result {kind}" role="status">{escape(text)}</p>\n'
