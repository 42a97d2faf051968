"""Deciding from a mail: a page that asks, a link that works once, and nothing that decides by being read."""

import re
from urllib.parse import urlencode, urlsplit

from retinue.app import Service
from retinue.approvals.models import ApprovalLink
from retinue.kit.clock import ManualClock
from retinue.users.models import User
from tests.adapters.notifying_servers import Vendors
from tests.approvals.conftest import Ask
from tests.client import Api, Response
from tests.factories.notifications import make_channel
from tests.factories.people import People

_LINK = re.compile(r"http://127\.0\.0\.1:8080/api/v1/public/approvals/[\w-]{43}")
_FORM = {"content-type": "application/x-www-form-urlencoded"}


async def post_form(api: Api, path: str, **fields: str) -> Response:
    return await api.post(path, content=urlencode(fields).encode(), headers=_FORM)


def links_in(companies: Vendors) -> list[tuple[str, str]]:
    """To whom mails went, and the path of the link in each."""
    found = []
    for request in companies.requests:
        if request.path == "/v3/mail/send":
            to = request.json["personalizations"][0]["to"][0]["email"]
            text = request.json["content"][0]["value"]
            found.append((to, urlsplit(_LINK.search(text)[0]).path))
    return found


async def test_an_approver_decides_from_a_mail_once(
    service: Service,
    admin: Api,
    people: People,
    requester: Api,
    boss: Api,
    ask: Ask,
    companies: Vendors,
    api: Api,
    clock: ManualClock,
) -> None:
    await make_channel(admin, "sendgrid", companies.config("sendgrid"))
    await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    other = await people.signed_in()
    hostile = "<script>alert(1)</script>"
    fields = (
        {"id": "why", "type": "text", "label": hostile, "required": True},
        {"id": "much", "type": "number", "label": "How much"},
        {"id": "kind", "type": "select", "label": "Kind", "options": [hostile, "b"]},
    )
    words = {"title": hostile, "description": hostile, "fields": fields}
    approval = await ask(boss.user.id, other.user.id, required_approvals=2, **words)
    await service.runner.drain()
    sent = dict(links_in(companies))
    assert set(sent) == {boss.user.email, other.user.email}
    chat = [one for one in companies.requests if one.path != "/v3/mail/send"]
    assert len(chat) == 1
    assert not _LINK.search(chat[0].body.decode())

    path = sent[boss.user.email]
    page = await api.get(path)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "script" not in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    text = page.body.decode()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<dt>amount</dt><dd>120</dd>" in text
    assert 'href="../../../../style/pages.css"' in text
    assert (await api.get("/style/pages.css")).status == 200
    for _ in range(3):
        await api.get(path)
        await api.request("HEAD", path)
    assert (await admin.get(f"/api/v1/approvals/{approval.id}")).json()["data"]["responses"] == []

    odd = await post_form(api, path, decision="perhaps")
    assert (odd.status, odd.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert "is required" in (await post_form(api, path, decision="approve")).body.decode()
    filled = {"data.why": "So", "data.much": "2", "data.kind": "b"}
    done = await post_form(api, path, decision="approve", comment="From the mail", **filled)
    assert done.status == 200
    assert "1 more approval" in done.body.decode()
    twice = await post_form(api, path, decision="reject")
    assert twice.status == 409
    assert "<form" not in (await api.get(path)).body.decode()
    record = (await admin.get(f"/api/v1/approvals/{approval.id}")).json()["data"]
    assert [(one["user_id"], one["comment"], one["data"]) for one in record["responses"]] == [
        (boss.user.id, "From the mail", {"why": "So", "much": 2, "kind": "b"})
    ]

    by_json = await api.post(sent[other.user.email], {"decision": "reject", "comment": "No"})
    assert (by_json.status, by_json.json()["data"]["status"]) == (200, "rejected")
    again = await api.post(sent[other.user.email], {"decision": "approve"})
    assert (again.status, again.code) == (409, "approval_already_resolved")
    assert (await api.post(sent[other.user.email], content=b"{", headers={})).status == 400
    assert (await api.post(path, content=b"x", headers={"content-type": "text/plain"})).status == 415
    async with people.context(boss.user.tenant_id) as ctx:
        stored = await ctx.db.all(ApprovalLink)
    assert all(one.token_hash not in path for one in stored)


async def test_a_link_is_worth_what_its_owner_may_do(
    service: Service,
    admin: Api,
    boss: Api,
    ask: Ask,
    companies: Vendors,
    api: Api,
    clock: ManualClock,
) -> None:
    await make_channel(admin, "sendgrid", companies.config("sendgrid"))
    for unknown in ("x", "a" * 43, "%00", "..%2f"):
        assert (await api.get(f"/api/v1/public/approvals/{unknown}")).status == 404
    await ask(expires_in_s=60)
    await service.runner.drain()
    ((_, path),) = links_in(companies)
    clock.advance(61)
    assert "in time" in (await api.get(path)).body.decode()
    assert (await api.post(path, {"decision": "approve"})).code == "approval_expired"
    assert (await admin.post(f"/users/{boss.user.id}/deactivate")).status == 200
    refused = await api.post(path, {"decision": "approve"})
    assert (refused.status, refused.details["reason"]) == (403, "not_an_approver")
    # An account that waits for approval decides nothing either.
    assert (await admin.post(f"/users/{boss.user.id}/reactivate")).status == 200
    async with People(service).context(boss.user.tenant_id) as ctx:
        await ctx.db.update(await ctx.db.get(User, boss.user.id), is_pending=True)
    refused = await api.post(path, {"decision": "approve"})
    assert (refused.status, refused.details["reason"]) == (403, "not_an_approver")
