"""Every kind of mail we send, as a person finds it: in the outbox of an instance without a mail server."""

import ast
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import retinue
from retinue.access.models import Role
from retinue.app import Service
from retinue.approvals.service import ApprovalSource, Requester, SourceType
from retinue.kit.events.declare import EVENT_TYPES
from retinue.notifications.event_notifications import EVENT_NOTIFICATIONS
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.approvals import some_approval
from tests.factories.forms import EMAIL, NAME, make_form, submit
from tests.factories.mails import link_token, mails_to
from tests.factories.notifications import NOTIFICATIONS, send
from tests.factories.people import PASSWORD, People
from tests.factories.workflows import make_workflow, node, start

HOSTILE = "<img src=x onerror=alert(1)> & Söhne €"
LINES = f"The first line\nand the second {HOSTILE}\n\nA paragraph"
VISITOR = "visitor@example.org"
# The modules that write mails; one more here means one more kind below.
SENDERS = {
    "auth/account_mails.py",
    "users/invitations.py",
    "users/existing_account_mail.py",
    "notifications/service.py",
    "notifications/manual_sends.py",
    "forms/after/notify.py",
    "adapters/mail/mail_queue.py",
}

_LINK = re.compile(r"http://127\.0\.0\.1:8080\S*")
_UNFILLED = re.compile(
    r"\{\{|\}\}|\{\w*\}|\bNone\b(?! of)|\b(?:usr|agt|wf|wfx|apv|ten|inv|frm|nch)_[a-z0-9]{8,}"
)


async def causes_of_account_mails(service: Service, people: People, admin: Api) -> None:
    api = Api(service)
    new = {"email": VISITOR, "password": PASSWORD, "first_name": HOSTILE[:20], "last_name": "L"}
    assert (await api.post("/auth/register", new)).status == 201
    assert (await api.post("/auth/register", new)).status == 201, "the owner of the account is told"
    assert (await api.post("/auth/forgot-password", {"email": VISITOR})).status == 200
    (reset,) = [mail for mail in await mails_to(service, VISITOR) if mail["Subject"] == "Reset your password"]
    changed = {"token": link_token(reset), "new_password": "Another-Staple-3"}
    assert (await api.post("/auth/reset-password", changed)).status == 200
    hostile = await people.signed_in(Role.tenant_admin, await people.tenant(HOSTILE))
    made = await hostile.post("/users/invite", {"email": "guest@example.org", "role": "viewer"})
    assert made.status == 201
    assert (await hostile.post(f"/users/invitations/{made.json()['id']}/resend")).status == 200


async def causes_of_notifications(service: Service, people: People, admin: Api) -> None:
    wanted = {telling.type: {"email": True} for telling in EVENT_NOTIFICATIONS.values()} | {
        "deploys": {"email": True}
    }
    assert (await admin.put(f"{NOTIFICATIONS}/preferences", {"preferences": wanted})).status == 200
    everyone: dict[str, Any] = {"type": "deploys", "user_ids": [admin.user.id]}
    await send(admin, **everyone, title=HOSTILE, message=LINES, action_url="/docs")
    await send(admin, **everyone, title="Only a title")
    assert (
        await admin.post(f"{NOTIFICATIONS}/test", {"channel_type": "email", "message": LINES})
    ).status == 200
    agent = await make_agent(admin, name=HOSTILE)
    async with people.context(admin.user.tenant_id) as ctx:
        for type in EVENT_NOTIFICATIONS:
            named = {"agent_id": agent["id"], "user_id": admin.user.id}
            example = EVENT_TYPES[type].example
            ctx.emit_custom(type, {**example, **{key: named[key] for key in named if key in example}})
    nowhere = {"table_id": "{{input.table}}", "operation": "insert", "values": {}}
    flow = await make_workflow(admin, node("save", "data_table", **nowhere), name=HOSTILE)
    await start(admin, flow)


async def causes_of_approvals(service: Service, people: People, admin: Api) -> None:
    agent = await make_agent(admin, name=HOSTILE)
    for by in (Requester("user", admin.user.id), Requester("embed_key", "ek_1"), Requester("system", "")):
        async with people.context(admin.user.tenant_id) as ctx:
            approval = await some_approval(
                ctx,
                "",
                admin.user.id,
                title=HOSTILE,
                description=LINES,
                allow_self_approval=True,
                requested_by=by,
                source=ApprovalSource(type=SourceType.tool, agent_id=agent["id"]),
                payload={
                    "tool": HOSTILE,
                    "function": "f",
                    "input": {"why": LINES, "amount": 12, "pin": None},
                },
            )
    assert (await admin.post(f"/api/v1/approvals/{approval.id}/remind")).status == 200


async def causes_of_forms(service: Service, people: People, admin: Api) -> None:
    settings = {
        "notifications": {"email": ["team@example.org"]},
        "confirmation_email": {"subject": f"We have it {HOSTILE}", "message": LINES},
    }
    form = await make_form(admin, NAME, EMAIL, settings=settings, name=HOSTILE)
    await submit(Api(service), form, {"name": LINES, "email": "filler@example.org"})
    to_creator = await make_form(admin, NAME, settings={"notifications": {"email": True}})
    await submit(Api(service), to_creator, {"name": HOSTILE})


CAUSES = {
    causes_of_account_mails: [
        *("Confirm your email address", "Reset your password", "You already have an account"),
        *("You are invited", "You are invited", "Your password was changed"),
    ],
    causes_of_notifications: [
        *(HOSTILE, "Only a title", "Test notification", "Training failed", "Webhook disabled"),
        *("Credential … expires soon", "Credential … has expired", "Security alert: a session was ended"),
        *(
            "… % of a budget is spent",
            "A model under a budget has no price",
            "Workflow … failed",
            "An account waits for approval",
            "… asks for …",
            "The server of the tool … has changed",
        ),
    ],
    causes_of_approvals: [
        *[f"Approval needed: {HOSTILE}"] * 3,
        f"Reminder: approval needed: {HOSTILE}",
    ],
    causes_of_forms: [
        *(f"New submission: {HOSTILE}", "New submission: Contact", f"We have it {HOSTILE}"),
    ],
}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.__name__)
async def test_a_mail_reads_well_and_its_links_can_be_copied(make_service: Any, cause: Any) -> None:
    service = await make_service(hide_accounts=True)
    people = People(service)
    await cause(service, people, await people.super_admin())
    await service.runner.drain()
    files = sorted((service.settings.data_dir / "outbox").glob("*.eml"))
    subjects = [_check(file.read_text()) for file in files]
    expected = [re.escape(subject).replace("…", ".+") for subject in CAUSES[cause]]
    for subject in subjects:
        matching = [pattern for pattern in expected if re.fullmatch(pattern, subject)]
        assert matching, f"a mail that nobody expected: {subject}"
        expected.remove(matching[0])
    assert expected == [], "mails that were not written"


def _check(written: str) -> str:
    """Look at a mail as an editor shows it; return its subject."""
    head, _, body = written.partition("\n\n")
    (subject,) = re.findall(r"^Subject: (.+)$", head, re.MULTILINE)
    plain, html = (
        part.partition("\n\n")[2].rpartition("\n--=")[0] for part in body.split("Content-Type: ")[1:]
    )
    assert plain.startswith("Hello,\n\n"), plain
    assert "quoted-printable" not in written
    assert "base64" not in written
    for line in plain.splitlines():
        if _LINK.search(line):
            assert _LINK.fullmatch(line), f"a link stands alone on its line: {line}"
            assert f'<a href="{line}">{line}</a>' in html
    # The address of a page may name what it shows.
    assert not _UNFILLED.search(_LINK.sub("", plain.replace(HOSTILE, ""))), plain
    assert "<img" not in html
    assert ("&lt;img src=x onerror=alert(1)&gt; &amp; Söhne €" in html) is (HOSTILE in plain)
    if LINES in plain:
        assert "The first line<br>\nand the second" in html
        assert "<p>A paragraph</p>" in html
    assert _words(unescape(re.sub(r"<[^>]+>", " ", html))) == _words(plain), "both parts say the same"
    return str(subject)


def _words(text: str) -> list[str]:
    """A table has cells where a line has a colon."""
    return text.replace(":", " ").split()


def test_every_module_that_writes_mails_is_walked_over() -> None:
    root = Path(retinue.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call):
                name = ast.unparse(call.func)
                if name in {"build_mail", "enqueue_mail"} or name.endswith("adapter(Mailer).send"):
                    found.add(str(path.relative_to(root)))
    assert found == SENDERS
