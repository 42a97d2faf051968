"""Deciding from a mail: a page that asks, a link that works once, and nothing that decides by being read."""

import re
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from retinue.app import Service
from retinue.approvals.models import Approval, ApprovalLink
from retinue.kit.clock import ManualClock
from retinue.users.models import User
from tests.adapters.notifying_servers import Vendors
from tests.approvals.conftest import Ask
from tests.client import Api, Response
from tests.factories.notifications import make_channel
from tests.factories.people import People

_LINK = re.compile(r"http://127\.0\.0\.1:8080/api/v1/public/approvals/[\w-]{43}")
_FORM = {"content-type": "application/x-www-form-urlencoded"}
_SCRIPT = "<script>alert(1)</script>"
_HOSTILE: dict[str, Any] = {
    "title": _SCRIPT,
    "description": _SCRIPT,
    "fields": (
        {"id": "why", "type": "text", "label": _SCRIPT, "required": True},
        {"id": "much", "type": "number", "label": "How much"},
        {"id": "kind", "type": "select", "label": "Kind", "options": [_SCRIPT, "b"]},
    ),
}


@pytest.fixture(autouse=True)
async def mail_channel(admin: Api, companies: Vendors) -> None:
    await make_channel(admin, "sendgrid", companies.config("sendgrid"))


async def post_form(api: Api, path: str, **fields: str) -> Response:
    return await api.post(path, content=urlencode(fields).encode(), headers=_FORM)


async def responses_to(api: Api, approval: Approval) -> list[dict[str, Any]]:
    return (await api.get(f"/api/v1/approvals/{approval.id}")).json()["data"]["responses"]


def links_in(companies: Vendors) -> list[tuple[str, str]]:
    """To whom mails went, and the path of the link in each."""
    found = []
    for request in companies.requests:
        if request.path == "/v3/mail/send":
            to = request.json["personalizations"][0]["to"][0]["email"]
            text = request.json["content"][0]["value"]
            found.append((to, urlsplit(_LINK.search(text)[0]).path))
    return found


async def ask_by_mail(
    service: Service, companies: Vendors, ask: Ask, *approvers: Api, **more: Any
) -> tuple[Approval, list[str]]:
    """Ask the approvers, and return the approval with the path of the link each was mailed."""
    approval = await ask(*(one.user.id for one in approvers), required_approvals=len(approvers), **more)
    await service.runner.drain()
    sent = dict(links_in(companies))
    assert set(sent) == {one.user.email for one in approvers}
    return approval, [sent[one.user.email] for one in approvers]


async def test_only_mails_have_the_link(
    service: Service, admin: Api, boss: Api, ask: Ask, companies: Vendors
) -> None:
    await make_channel(admin, "slack_webhook", companies.config("slack_webhook"))
    await ask_by_mail(service, companies, ask, boss)
    (chat,) = [one for one in companies.requests if one.path != "/v3/mail/send"]
    assert not _LINK.search(chat.body.decode())


async def test_the_page_of_the_link_shows_the_approval_and_runs_no_script_from_it(
    service: Service, boss: Api, ask: Ask, companies: Vendors, api: Api
) -> None:
    _, (path,) = await ask_by_mail(service, companies, ask, boss, **_HOSTILE)
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


async def test_reading_the_page_decides_nothing(
    service: Service, admin: Api, boss: Api, ask: Ask, companies: Vendors, api: Api
) -> None:
    approval, (path,) = await ask_by_mail(service, companies, ask, boss)
    for _ in range(3):
        assert (await api.get(path)).status == 200
        await api.request("HEAD", path)
    assert await responses_to(admin, approval) == []


async def test_the_form_of_the_link_decides_once(
    service: Service, admin: Api, people: People, boss: Api, ask: Ask, companies: Vendors, api: Api
) -> None:
    other = await people.signed_in()
    approval, (path, _) = await ask_by_mail(service, companies, ask, boss, other, **_HOSTILE)
    filled = {"data.why": "So", "data.much": "2", "data.kind": "b"}
    done = await post_form(api, path, decision="approve", comment="From the mail", **filled)
    assert done.status == 200
    assert "1 more approval" in done.body.decode()
    assert (await post_form(api, path, decision="reject")).status == 409
    assert "<form" not in (await api.get(path)).body.decode()
    assert [(one["user_id"], one["comment"], one["data"]) for one in await responses_to(admin, approval)] == [
        (boss.user.id, "From the mail", {"why": "So", "much": 2, "kind": "b"})
    ]


async def test_a_wrong_form_is_answered_with_a_page_and_decides_nothing(
    service: Service, admin: Api, boss: Api, ask: Ask, companies: Vendors, api: Api
) -> None:
    approval, (path,) = await ask_by_mail(service, companies, ask, boss, **_HOSTILE)
    odd = await post_form(api, path, decision="perhaps")
    assert (odd.status, odd.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert "is required" in (await post_form(api, path, decision="approve")).body.decode()
    assert (await api.post(path, content=b"x", headers={"content-type": "text/plain"})).status == 415
    assert await responses_to(admin, approval) == []


async def test_the_link_takes_json_as_well(
    service: Service, boss: Api, ask: Ask, companies: Vendors, api: Api
) -> None:
    _, (path,) = await ask_by_mail(service, companies, ask, boss)
    rejected = await api.post(path, {"decision": "reject", "comment": "No"})
    assert (rejected.status, rejected.json()["data"]["status"]) == (200, "rejected")
    again = await api.post(path, {"decision": "approve"})
    assert (again.status, again.code) == (409, "approval_already_resolved")
    assert (await api.post(path, content=b"{", headers={})).status == 400


async def test_the_link_is_stored_as_a_hash_only(
    service: Service, people: People, boss: Api, ask: Ask, companies: Vendors
) -> None:
    _, (path,) = await ask_by_mail(service, companies, ask, boss)
    async with people.context(boss.user.tenant_id) as ctx:
        (stored,) = await ctx.db.all(ApprovalLink)
    assert stored.token_hash not in path


async def test_a_link_is_worth_what_its_owner_may_do(
    service: Service,
    admin: Api,
    boss: Api,
    ask: Ask,
    companies: Vendors,
    api: Api,
    clock: ManualClock,
) -> None:
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
