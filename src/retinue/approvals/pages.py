"""The page that a link opens: it shows what will happen and asks, and needs no script for it."""

from html import escape
from typing import Any

import msgspec

from retinue.approvals.models import Approval, ApprovalStatus, Response
from retinue.kit.clock import Instant
from retinue.kit.fields import CHOICES, Fields, FieldType, options_of
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
        <div class="field">
          <label for="comment">Comment</label>
          <textarea id="comment" name="comment" maxlength="4000" rows="3"></textarea>
        </div>
{fields}        <div class="answers">
          <button class="send" name="decision" value="approve">Approve</button>
          <button name="decision" value="reject">Reject</button>
        </div>
      </form>
"""
_FIELD = """        <div class="field">
          <label for="{id}">{label}</label>
          {control}
        </div>
"""
_INPUT_TYPES = {
    FieldType.number: 'type="number" step="any"',
    FieldType.rating: 'type="number"',
    FieldType.slider: 'type="number" step="any"',
    FieldType.checkbox: 'type="checkbox"',
    FieldType.email: 'type="email"',
    FieldType.url: 'type="url"',
    FieldType.phone: 'type="tel"',
    FieldType.date: 'type="date"',
    FieldType.datetime: 'type="datetime-local"',
    FieldType.hidden: 'type="hidden"',
}
_STATES = {
    ApprovalStatus.approved: "This was approved.",
    ApprovalStatus.rejected: "This was rejected.",
    ApprovalStatus.timeout: "Nobody decided this in time.",
    ApprovalStatus.cancelled: "This is no longer asked for.",
}


def page(approval: Approval, answered: Response | None, now: Instant) -> Reply[Document]:
    """What will happen, and the form while this approver can still answer."""
    parts = [*_about(approval)]
    if approval.status is not ApprovalStatus.pending:
        parts.append(_result(_STATES[approval.status]))
    elif approval.expires_at <= now:
        parts.append(_result(_STATES[ApprovalStatus.timeout]))
    elif answered is not None:
        parts.append(_result(f"You have {answered.decision} this. It waits for others."))
    else:
        fields = "".join(_field(one.definition, one.type) for one in Fields(approval.fields).asked)
        parts.append(_FORM.format(fields=fields))
    return _reply(approval.title, parts)


def decided(approval: Approval, verdict: str) -> Reply[Document]:
    told = f"You have {verdict} this."
    if approval.status is ApprovalStatus.pending:
        missing = approval.required_approvals - approval.approvals_received
        told += f" It needs {missing} more approval{'s' if missing > 1 else ''}."
    return _reply(approval.title, [_result(told)])


def refused(approval: Approval, problems: list[str], status: int) -> Reply[Document]:
    return _reply(approval.title, [_result(problem, "bad") for problem in problems], status)


def _reply(title: str, parts: list[str], status: int | None = None) -> Reply[Document]:
    text = _PAGE.format(title=escape(title), content="".join(parts))
    # A browser would keep the page under its whole address, and the token is part of it.
    return Reply(Document(text.encode(), policy=POLICY), status, _HEADERS)


def _about(approval: Approval) -> list[str]:
    until = approval.expires_at[:16].replace("T", " ")
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
        f'      <p class="hint">To be decided until {escape(until)} UTC.</p>\n',
    ]


def _field(declared: dict[str, Any], type: FieldType) -> str:
    """One field of the approval; the answer that rejects needs none of them, so the browser asks for none."""
    id = escape(f"data.{declared['id']}")
    named = f'id="{id}" name="{id}"'
    label = str(declared.get("label") or declared["id"]) + (" *" if declared.get("required") else "")
    if type is FieldType.textarea:
        control = f'<textarea {named} rows="3"></textarea>'
    elif type in CHOICES:
        several = " multiple" if type in {FieldType.multi_select, FieldType.checkbox_group} else ""
        empty = "" if several else '<option value=""></option>'
        control = f"<select {named}{several}>{empty}{_options(declared)}</select>"
    else:
        control = f"<input {named} {_INPUT_TYPES.get(type, '')}>"
    return _FIELD.format(id=id, label=escape(label), control=control)


def _options(declared: dict[str, Any]) -> str:
    return "".join(
        f'<option value="{escape(str(one["value"]))}">{escape(str(one["label"]))}</option>'
        for one in options_of(declared)
    )


def _result(text: str, kind: str = "good") -> str:
    return f'      <p class="result {kind}" role="status">{escape(text)}</p>\n'
