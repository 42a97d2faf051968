"""The page that a link opens: it shows what will happen and asks, and needs no script for it."""

from html import escape
from typing import Any

import msgspec

from retinue.approvals.controls import PREFIX, Filled, controls
from retinue.approvals.models import Approval, ApprovalStatus, Response
from retinue.kit.clock import Instant
from retinue.kit.errors import RetinueError
from retinue.kit.http.replies import Document, Reply

POLICY = (
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
    ApprovalStatus.cancelled: "This is no longer asked for.",
}


def page(
    approval: Approval, answered: Response | None, now: Instant, filled: Filled | None = None
) -> Reply[Document]:
    """What will happen, and the form while this approver can answer, with what was wrong in it before."""
    told = _told(approval, answered, now)
    if told:
        return _reply(approval.title, [*_about(approval), _result(told)])
    filled = filled or Filled()
    form = _FORM.format(fields=controls(approval.fields, filled), comment=escape(filled.text("comment")))
    wrong = [_result(problem, "bad") for problem in _wrong(approval, filled)]
    return _reply(approval.title, [*_about(approval), _until(approval), *wrong, form], 422 if wrong else None)


def _told(approval: Approval, answered: Response | None, now: Instant) -> str:
    """Why there is nothing to decide here any more, if so."""
    if approval.status is not ApprovalStatus.pending:
        return _STATES[approval.status]
    if approval.expires_at <= now:
        return _STATES[ApprovalStatus.timeout]
    return f"You have {answered.decision} this. It waits for others." if answered is not None else ""


def _wrong(approval: Approval, filled: Filled) -> list[str]:
    """What is wrong with a field stands beside it; here is that something is, and what no field is for."""
    named = {f"{PREFIX}{one['id']}" for one in approval.fields}
    others = [f"{name} {why}." for name, why in filled.problems.items() if name not in named]
    is_marked = len(others) < len(filled.problems)
    return [*others, *(["Nothing is decided yet: please correct what is marked."] if is_marked else [])]


def decided(approval: Approval, verdict: str) -> Reply[Document]:
    told = f"You have {verdict} this."
    if approval.status is ApprovalStatus.pending:
        missing = approval.required_approvals - approval.approvals_received
        told += f" It needs {missing} more approval{'s' if missing > 1 else ''}."
    return _reply(approval.title, [_result(told)])


def refused(title: str, error: RetinueError) -> Reply[Document]:
    return _reply(title, [_result(error.message, "bad")], error.status)


def _reply(title: str, parts: list[str], status: int | None = None) -> Reply[Document]:
    text = _PAGE.format(title=escape(title), content="".join(parts))
    # A browser would keep the page under its whole address, and the token is part of it.
    return Reply(Document(text.encode(), policy=POLICY), status, _HEADERS)


def _about(approval: Approval) -> list[str]:
    described = [
        f"      <p>{escape(line)}</p>\n" for line in approval.description.splitlines() if line.strip()
    ]
    shown: dict[str, Any] = approval.payload
    if approval.edited_input:
        shown = {**shown, "edited_input": approval.edited_input}
    happens = msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()
    return [
        *described,
        "      <h2>What will happen</h2>\n",
        f'      <pre tabindex="0">{escape(happens)}</pre>\n',
    ]


def _until(approval: Approval) -> str:
    until = approval.expires_at[:16].replace("T", " ")
    return f'      <p class="hint">To be decided until {escape(until)} UTC.</p>\n'


def _result(text: str, kind: str = "good") -> str:
    return f'      <p class="result {kind}" role="status">{escape(text)}</p>\n'
