"""Asking, deciding, and everything that may come between."""

import asyncio
from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.approvals.jobs import RETENTION_DAYS, expire_approvals, purge_approvals
from retinue.approvals.models import Approval
from retinue.approvals.models import ApprovalResponse as Answered
from retinue.approvals.service import Approvers, OnTimeout, cancel_waiting
from retinue.kit.clock import ManualClock
from retinue.kit.context.continuations import ContinuationRef
from tests.approvals.conftest import Ask
from tests.client import Api, Response
from tests.factories.happenings import audits, events
from tests.factories.people import People

PATH = "/api/v1/approvals"


async def list_ids(api: Api, **query: Any) -> list[str]:
    answer = await api.get(PATH, query=query)
    assert answer.status == 200, answer
    return [one["id"] for one in answer.json()["data"]]


async def decide(api: Api, id: str, verb: str = "approve", **body: Any) -> Response:
    return await api.post(f"{PATH}/{id}/{verb}", body)


def refusal(answer: Response) -> tuple[int, str]:
    return answer.status, (answer.details or {}).get("reason") or answer.code


async def test_an_approval_is_shown_with_its_rules_and_without_secrets(
    requester: Api, boss: Api, ask: Ask
) -> None:
    approval = await ask(payload={"input": {"amount": 120, "api_key": "sk-123456", "max_tokens": 5}})
    shown = (await boss.get(f"{PATH}/{approval.id}")).json()["data"]
    assert shown["payload"] == {"input": {"amount": 120, "api_key": "***", "max_tokens": 5}}
    assert shown["approvers"] == {"user_ids": [boss.user.id], "roles": []}
    assert (shown["required_approvals"], shown["approvals_received"], shown["responses"]) == (1, 0, [])
    assert (shown["on_timeout"], shown["allow_self_approval"]) == ("reject", False)
    assert shown["names"] == {requester.user.id: requester.user.display_name}


async def test_an_approval_is_listed_and_counted_for_those_it_concerns(
    admin: Api, people: People, requester: Api, boss: Api, ask: Ask
) -> None:
    approval = await ask()
    stranger = await people.signed_in(Role.agent_user)
    assert await list_ids(boss, status="pending", assigned_to_me="true", source_type="tool") == [approval.id]
    assert await list_ids(boss, waiting_for_me="true") == [approval.id]
    assert await list_ids(requester) == [approval.id]
    assert await list_ids(requester, assigned_to_me="true") == []
    assert await list_ids(stranger) == []
    assert await list_ids(admin) == [approval.id]
    assert await list_ids(admin, source_type="workflow") == []
    for person, count in ((boss, 1), (requester, 0), (stranger, 0), (admin, 0)):
        assert (await person.get(f"{PATH}/count")).json() == {"count": count}


async def test_only_the_approver_decides(
    admin: Api, people: People, requester: Api, boss: Api, ask: Ask
) -> None:
    approval = await ask()
    stranger = await people.signed_in(Role.agent_user)
    assert refusal(await decide(stranger, approval.id)) == (404, "approval_not_found")
    assert refusal(await decide(requester, approval.id)) == (403, "not_an_approver")
    assert refusal(await decide(admin, approval.id)) == (403, "not_an_approver")
    assert (await decide(boss, approval.id)).status == 200


async def test_an_approval_is_decided_once_by_its_approver(people: People, boss: Api, ask: Ask) -> None:
    approval = await ask()
    done = await decide(boss, approval.id, comment="Fine with me.", data={"note": "x"})
    assert done.status == 200, done
    record = done.json()["data"]
    assert (record["status"], record["resolved_by"], record["approvals_received"]) == (
        "approved",
        boss.user.id,
        1,
    )
    (response,) = record["responses"]
    assert (response["user_id"], response["decision"], response["comment"], response["data"]) == (
        boss.user.id,
        "approved",
        "Fine with me.",
        {"note": "x"},
    )
    assert refusal(await decide(boss, approval.id)) == (409, "approval_already_resolved")
    assert refusal(await decide(boss, approval.id, "reject")) == (409, "approval_already_resolved")
    assert len(await audits(people, "approval.approved")) == 1


async def test_events_tell_who_asked_and_who_decided(
    people: People, requester: Api, boss: Api, ask: Ask
) -> None:
    approval = await ask()
    await decide(boss, approval.id, comment="Fine with me.")
    (requested,) = await events(people, "approval.requested")
    (approved,) = await events(people, "approval.approved")
    assert requested.data["requested_by"] == {"type": "user", "id": requester.user.id}
    assert (approved.data["resolved_by"], approved.data["comment"]) == (boss.user.id, "Fine with me.")


def boss_or_roles(boss: Api) -> Approvers:
    return Approvers(user_ids=(boss.user.id,), roles=(Role.agent_developer, Role.tenant_admin))


async def test_a_quorum_needs_different_people_and_keeps_the_first_edit(
    admin: Api, people: People, boss: Api, ask: Ask
) -> None:
    other = await people.signed_in(Role.agent_developer)
    pair = await ask(approvers=boss_or_roles(boss), required_approvals=2, editable_fields=("amount",))
    bad = await decide(boss, pair.id, edited_input={"amount": 90, "to": "Mallory"})
    assert (bad.status, bad.details) == (422, {"edited_input.to": "may not be changed"})
    first = (await decide(boss, pair.id, edited_input={"amount": 90, "to": "Ada"})).json()["data"]
    assert (first["status"], first["edited_input"]) == ("pending", {"amount": 90})
    assert refusal(await decide(boss, pair.id)) == (409, "already_responded")
    assert (await boss.get(f"{PATH}/count")).json() == {"count": 0}
    assert await list_ids(boss, waiting_for_me="true") == []
    assert await list_ids(other, waiting_for_me="true") == [pair.id]
    assert (await decide(other, pair.id, edited_input={"amount": 1})).status == 422
    # A super administrator is an administrator as well.
    assert (await decide(admin, pair.id)).json()["data"]["status"] == "approved"
    # The audit log says that the call was changed; its values stay with the approval.
    (approved,) = await audits(people, "approval.approved")
    assert approved.metadata["edited_fields"] == ["amount"]


async def test_one_rejection_ends_a_quorum(people: People, boss: Api, ask: Ask) -> None:
    other = await people.signed_in(Role.agent_developer)
    vetoed = await ask(approvers=boss_or_roles(boss), required_approvals=3)
    await decide(boss, vetoed.id)
    assert (await decide(other, vetoed.id, "reject", comment="No")).json()["data"]["status"] == "rejected"


async def test_a_requester_approves_only_where_that_is_allowed(requester: Api, ask: Ask) -> None:
    own = await ask(requester.user.id)
    assert refusal(await decide(requester, own.id)) == (403, "not_an_approver")
    assert await list_ids(requester, waiting_for_me="true") == []
    allowed = await ask(requester.user.id, allow_self_approval=True)
    assert await list_ids(requester, waiting_for_me="true") == [allowed.id]
    assert (await decide(requester, allowed.id)).status == 200


async def test_a_pending_approval_says_how_many_can_still_decide(
    admin: Api, people: People, requester: Api, boss: Api, ask: Ask
) -> None:
    async def count_left(id: str) -> int | None:
        return (await admin.get(f"{PATH}/{id}")).json()["data"].get("deciders_left")

    named, own = await ask(), await ask(requester.user.id)
    pair = await ask(approvers=boss_or_roles(boss), required_approvals=2)
    administrators = len([admin, await people.signed_in(Role.tenant_admin)])
    developer = await people.signed_in(Role.agent_developer)
    assert [await count_left(one.id) for one in (named, own)] == [1, 0]
    before = await count_left(pair.id)
    assert before == 1 + administrators + len([developer])
    await decide(developer, pair.id)
    assert await count_left(pair.id) == before - 1
    assert (await admin.post(f"/users/{boss.user.id}/deactivate")).status == 200
    assert await count_left(named.id) == 0
    await decide(admin, pair.id)
    assert await count_left(pair.id) is None


async def test_required_fields_are_filled_in_by_the_approver(boss: Api, ask: Ask) -> None:
    filled = await ask(fields=({"id": "reason", "label": "Reason", "type": "text", "required": True},))
    assert (await decide(boss, filled.id)).status == 422
    assert (await decide(boss, filled.id, data={"reason": "Because"})).status == 200


async def test_of_fifty_who_decide_at_once_one_is_heard(
    people: People, admin: Api, requester: Api, ask: Ask
) -> None:
    approvers = [await people.signed_in(Role.agent_developer) for _ in range(5)]
    approval = await ask(approvers=Approvers(roles=(Role.agent_developer,)))
    answers = await asyncio.gather(
        *(
            decide(approvers[number % 5], approval.id, "approve" if number % 2 else "reject")
            for number in range(50)
        )
    )
    assert sorted(answer.status for answer in answers) == [200, *[409] * 49]
    record = (await admin.get(f"{PATH}/{approval.id}")).json()["data"]
    assert len(record["responses"]) == 1
    assert (
        len(await events(people, "approval.approved")) + len(await events(people, "approval.rejected")) == 1
    )


async def test_a_requester_reminds_once_an_hour(
    service: Service, people: People, requester: Api, boss: Api, ask: Ask, clock: ManualClock
) -> None:
    lasting = await ask(waiting=ContinuationRef("nobody", "k"))
    await service.runner.drain()
    told = (await boss.get("/api/v1/notifications", query={"type": "approval_requested"})).json()
    assert told["total"] == 1
    assert (await requester.post(f"{PATH}/{lasting.id}/remind")).status == 200
    again = await requester.post(f"{PATH}/{lasting.id}/remind")
    assert (again.status, again.code) == (429, "rate_limited")
    assert refusal(await boss.post(f"{PATH}/{lasting.id}/remind")) == (403, "not_the_requester")
    await service.runner.drain()
    assert (await boss.get("/api/v1/notifications")).json()["total"] == 2
    clock.advance(3601)
    requester = await people.sign_in(requester.user)
    assert (await requester.post(f"{PATH}/{lasting.id}/remind")).status == 200


async def test_nobody_decides_after_the_time_is_over(
    service: Service, admin: Api, people: People, boss: Api, ask: Ask, clock: ManualClock
) -> None:
    late = [await ask(expires_in_s=60, on_timeout=one) for one in OnTimeout]
    lasting = await ask()
    await service.runner.drain()
    told = (await boss.get("/api/v1/notifications", query={"type": "approval_requested"})).json()
    assert told["total"] == 4
    clock.advance(61)
    assert refusal(await decide(boss, late[0].id)) == (410, "approval_expired")
    async with people.context() as ctx:
        await expire_approvals(ctx.detached())
    ended = [(await admin.get(f"{PATH}/{one.id}")).json()["data"] for one in late]
    assert [one["status"] for one in ended] == ["timeout"] * 3
    assert refusal(await decide(boss, late[0].id)) == (410, "approval_expired")
    assert len(await events(people, "approval.timeout")) == 3
    assert (await decide(boss, lasting.id)).status == 200


async def test_only_the_requester_cancels(requester: Api, boss: Api, ask: Ask) -> None:
    lasting = await ask(waiting=ContinuationRef("nobody", "k"))
    assert refusal(await decide(boss, lasting.id, "cancel")) == (403, "not_the_requester")
    cancelled = await decide(requester, lasting.id, "cancel")
    assert (cancelled.status, cancelled.json()["data"]["status"]) == (200, "cancelled")
    assert refusal(await decide(boss, lasting.id)) == (409, "approval_already_resolved")


async def test_what_waits_for_a_decision_withdraws_it_once(
    people: People, requester: Api, boss: Api, ask: Ask
) -> None:
    withdrawn = await ask(waiting=ContinuationRef("nobody", "k2"))
    async with people.context(requester.user.tenant_id) as ctx:
        assert await cancel_waiting(ctx, "nobody", "k2") == 1
        assert await cancel_waiting(ctx, "nobody", "k2") == 0
    assert refusal(await decide(boss, withdrawn.id)) == (409, "approval_already_resolved")


async def test_what_was_decided_long_ago_goes_and_what_waits_stays(
    people: People, boss: Api, ask: Ask, clock: ManualClock
) -> None:
    decided, waiting = await ask(), await ask(expires_in_s=365 * 86_400.0)
    assert (await decide(boss, decided.id)).status == 200

    async def kept() -> set[str]:
        async with people.context(boss.user.tenant_id) as ctx:
            await purge_approvals(ctx.detached())
            assert await ctx.db.count(Answered) == await ctx.db.count(Approval, status="approved")
            return {one.id for one in await ctx.db.all(Approval)}

    clock.advance((RETENTION_DAYS - 1) * 86_400)
    assert await kept() == {decided.id, waiting.id}
    clock.advance(5 * 86_400)
    assert await kept() == {waiting.id}
