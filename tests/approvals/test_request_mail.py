"""The mail to an approver says who asks for what, with the values, until when, and what happens otherwise."""

from typing import Any

from retinue.app import Service
from retinue.approvals.service import ApprovalSource, OnTimeout, Requester, SourceType
from tests.approvals.conftest import Ask
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.mails import html_of, last_mail, mails_to, text_of
from tests.factories.notifications import NOTIFICATIONS, notifications_of
from tests.factories.tools import make_tool
from tests.factories.workflows import make_workflow, node

INPUT = {
    "customer": "ACME <Ltd>",
    "amount": 120,
    "lines": ["a", "b"],
    "api_key": "sk-verysecret",
    "note": "1\n2",
}


async def ask_for_invoice(admin: Api, ask: Ask) -> None:
    """Ask for approval of a call whose values have a secret, markup and more than one line."""
    agent, tool = await make_agent(admin, name="Support"), await make_tool(admin, name="create_invoice")
    await ask(
        title="Support: create_invoice",
        description="The agent Support wants to use the tool create_invoice.",
        source=ApprovalSource(type=SourceType.tool, agent_id=agent["id"], tool_id=tool["id"]),
        payload={"tool": "create_invoice", "function": "create_invoice", "input": INPUT},
        required_approvals=1,
        on_timeout=OnTimeout.fail,
    )


async def test_the_mail_names_the_requester_the_agent_the_tool_and_the_deadline(
    service: Service, admin: Api, requester: Api, boss: Api, ask: Ask
) -> None:
    await ask_for_invoice(admin, ask)
    mail = await last_mail(service, boss.user.email)
    text = text_of(mail)
    assert mail["Subject"] == "Approval needed: Support: create_invoice"
    assert f"Ada Lovelace ({requester.user.email}) asks for your approval of: Support: create_invoice" in text
    assert "Agent: Support\nTool: create_invoice\n" in text
    assert "before 2027-01-18 08:00 UTC" in text
    assert "the waiting tool call or workflow fails" in text
    assert await mails_to(service, requester.user.email) == []


async def test_the_mail_has_the_values_of_the_call_without_secrets(
    service: Service, admin: Api, boss: Api, ask: Ask
) -> None:
    await ask_for_invoice(admin, ask)
    mail = await last_mail(service, boss.user.email)
    text, html = text_of(mail), html_of(mail)
    assert {"customer: ACME <Ltd>", "amount: 120", 'lines: ["a","b"]', "api_key: ***"} <= set(
        text.splitlines()
    )
    assert "note: 1\n    2\n" in text
    assert "verysecret" not in mail.as_string()
    for name, value in (("Agent", "Support"), ("customer", "ACME &lt;Ltd&gt;"), ("amount", "120")):
        assert f">{name}</th>" in html
        assert f">{value}</td>" in html


async def test_the_notification_in_the_console_does_not_have_the_values(
    service: Service, admin: Api, boss: Api, ask: Ask
) -> None:
    await ask_for_invoice(admin, ask)
    await service.runner.drain()
    (shown,) = (await notifications_of(boss))["data"]
    assert "Ada Lovelace asks for approval." in shown["message"]
    assert "ACME" not in shown["message"], "only the mail, which the approver alone reads, has the values"


async def test_a_workflow_and_a_visitor_are_named_as_such(
    service: Service, admin: Api, boss: Api, ask: Ask
) -> None:
    flow = await make_workflow(admin, node("a"), name="Refunds")
    more: dict[str, Any] = {"required_approvals": 1, "payload": {"order": "A-17"}}
    await ask(source=ApprovalSource(type=SourceType.workflow, workflow_id=flow["id"]), **more)
    text = text_of(await last_mail(service, boss.user.email))
    assert "Workflow: Refunds" in text
    assert "With these values:\n\norder: A-17\n" in text
    await ask(requested_by=Requester("embed_key", "ek_1"), payload={f"n{i}": i for i in range(40)})
    text = text_of(await last_mail(service, boss.user.email))
    assert "A visitor of your website asks for your approval of: Refund\n" in text
    assert "n29: 29\n…: and 10 more on the linked page\n" in text


async def test_who_does_not_want_mails_gets_none(service: Service, boss: Api, ask: Ask) -> None:
    quiet = {"preferences": {"approval_requested": {"email": False}}}
    assert (await boss.put(f"{NOTIFICATIONS}/preferences", quiet)).status == 200
    await ask()
    assert await mails_to(service, boss.user.email) == []
