"""Webhooks as their owner sees them: made, listed, changed, deleted, and refused when they make no sense."""

import re

import pytest

from retinue.webhooks.models import Webhook
from retinue.webhooks.service import MAX_WEBHOOKS
from tests.factories.happenings import audits, only_event
from tests.webhooks.hooks import ORDER, PATH

SHOWN = {
    "id", "url", "events", "active", "description", "headers", "filters", "secret_prefix", "disabled_reason",
    "failing_since", "last_delivery_at", "success_rate", "created_at", "updated_at",
}  # fmt: skip


@pytest.fixture
async def made(admin):
    answer = await admin.post(
        PATH,
        {
            "url": "https://example.com/hook?key=1",
            "events": ["form.submission.created", "form.submission.created", "agent.*"],
            "description": "Orders",
            "headers": {"X-Team": "blue"},
        },
    )
    assert answer.status == 201
    return answer.json()


async def test_a_new_webhook_is_answered_with_its_secret_and_announced_without_its_query(made, people):
    assert set(made) == SHOWN | {"secret"}
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", made["secret"])
    assert made["id"].startswith("wh_")
    assert made["secret_prefix"] == made["secret"][:10]
    assert made["events"] == ["form.submission.created", "agent.*"]
    assert (made["active"], made["filters"], made["success_rate"]) == (True, {}, 0.0)
    assert (await only_event(people, "system.webhook.created"))["url"] == "https://example.com/hook"


async def test_the_secret_of_a_webhook_is_shown_once_and_stored_encrypted(hooks, made, people, admin):
    shown = await hooks.read(made)
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    async with people.context(admin.user.tenant_id) as ctx:
        stored = await ctx.db.get(Webhook, made["id"])
        assert made["secret"] not in repr(stored)
        assert made["secret"] in stored.secrets.text(ctx.instance.ring)


async def test_a_changed_webhook_keeps_what_was_not_sent(hooks, made, people):
    shown = await hooks.read(made)
    changes = {"active": False, "description": None, "headers": None, "filters": {"form_id": "frm_1"}}
    changed = (await hooks.call(made, "PUT", "", json=changes)).json()
    assert changed == {
        **shown, "active": False, "description": None, "headers": {}, "filters": {"form_id": "frm_1"},
        "updated_at": changed["updated_at"],
    }  # fmt: skip
    assert (await only_event(people, "system.webhook.updated"))["changed"] == sorted(changes)
    assert (await hooks.call(made, "PUT", "", json={})).json() == changed


async def test_a_deleted_webhook_is_not_found(hooks, made, people):
    gone = await hooks.call(made, "DELETE", "")
    assert (gone.status, gone.body) == (204, b"")
    assert (await hooks.call(made, "GET", "")).code == "webhook_not_found"
    assert len(await audits(people, "system.webhook.deleted")) == 1


async def test_the_list_has_everything_but_secrets_and_is_narrowed_and_paged(hooks, admin):
    for number in range(3):
        await hooks.make(f"/{number}", active=number != 1)
    page = (await admin.get(PATH, query={"per_page": 2})).json()
    assert [one["url"].rpartition("/")[2] for one in page["data"]] == ["2", "1"]
    assert all(set(one) == SHOWN for one in page["data"])
    assert page["pagination"] == {"page": 1, "per_page": 2, "total": 3, "total_pages": 2}
    assert (page["total"], page["page"], page["per_page"]) == (3, 1, 2)
    for active, count in (("true", 2), ("false", 1)):
        assert (await admin.get(PATH, query={"active": active})).json()["total"] == count
    for sort, last in (("created_at", "2"), ("-url", "0")):
        sorted_ = (await admin.get(PATH, query={"sort": sort})).json()["data"]
        assert sorted_[-1]["url"].endswith(f"/{last}"), sort
    refused = await admin.get(PATH, query={"sort": "secret"})
    assert (refused.status, set(refused.details)) == (422, {"sort"})


_URL = "https://example.com/hook"
REFUSED = [
    ({"url": "http://example.com/hook"}, "url"),
    ({"url": "https://10.0.0.1/"}, "url"),
    ({"url": "https://metadata.google.internal/"}, "url"),
    ({"url": "https://user:pass@example.com/"}, "url"),
    ({"url": "https://example.com:6379/"}, "url"),
    ({"url": "https://example.com\\@127.0.0.1/"}, "url"),
    ({"url": "ftp://example.com/"}, "url"),
    ({"url": ""}, "url"),
    ({"url": None}, "url"),
    ({"events": []}, "events"),
    ({"events": "form.*"}, "events"),
    ({"events": ["form"]}, "events.0"),
    ({"events": ["ok.fine", "Form.Created"]}, "events.1"),
    ({"events": ["form.*.created"]}, "events.0"),
    ({"events": ["form.submission.created\n"]}, "events.0"),
    ({"active": "yes"}, "active"),
    ({"headers": {"X-Service-Signature": "x"}}, "headers"),
    ({"headers": {"webhook-id": "x"}}, "headers"),
    ({"headers": {"content-type": "text/plain"}}, "headers"),
    ({"headers": {"User-Agent": "x"}}, "headers"),
    ({"headers": {"Host": "evil.example"}}, "headers"),
    ({"headers": {"Transfer-Encoding": "chunked"}}, "headers"),
    ({"headers": {"X-A": "a\r\nX-B: b"}}, "headers"),
    ({"headers": {"X-A": 1}}, "headers.X-A"),
    ({"filters": {"form_id": {"like": "x"}}}, "filters.form_id"),
    ({"filters": {"form_id": {}}}, "filters.form_id"),
    ({"filters": {"form_id": []}}, "filters.form_id"),
    ({"filters": {"form_id": [["x"]]}}, "filters.form_id"),
    ({"filters": {"a.b": {"exists": 1}}}, "filters.a.b"),
    ({"filters": {"n": {"gt": None}}}, "filters.n"),
    ({"filters": {"n": "x" * 16 * 1024}}, "filters"),
    ({"filters": {"a b": 1}}, "filters"),
    ({"filters": {"": 1}}, "filters"),
    ({"filters": []}, "filters"),
    ({"description": "x" * 501}, "description"),
]


def is_refusal(answer, field):
    return answer.status == 422 and answer.code == "validation_error" and field in answer.details


@pytest.mark.either_database
async def test_what_makes_no_sense_is_refused_with_the_name_of_its_field(hooks, admin):
    made = await hooks.make()
    wrong = []
    for change, field in REFUSED:
        created = await admin.post(PATH, {"url": _URL, "events": [ORDER], **change})
        updated = await hooks.call(made, "PUT", "", json=change)
        wrong += [(change, one) for one in (created, updated) if not is_refusal(one, field)]
    assert wrong == []
    assert (await admin.post(PATH, {})).details == {"url": "is required", "events": "is required"}
    assert (await admin.post(PATH, {"url": "http://example.com/", "events": ["*"]})).details == {
        "url": "must be https"
    }
    assert (await admin.get(PATH)).json()["total"] == 1
    for allowed in (["*"], ["form.*", "my.own_event.v2"]):
        assert (await admin.post(PATH, {"url": _URL, "events": allowed})).status == 201


@pytest.mark.either_database
async def test_on_a_public_instance_nothing_private_and_no_plain_http_is_stored(make_service):
    from tests.factories.people import People

    service = await make_service(base_url="https://retinue.example.com", egress_allow=("10.1.2.3:9000",))
    admin = await People(service).super_admin()
    for url in ("http://127.0.0.1:9/", "https://127.0.0.1/", "https://2130706433/", "https://[::1]/"):
        answer = await admin.post(PATH, {"url": url, "events": ["*"]})
        assert (answer.status, list(answer.details)) == (422, ["url"]), url
    assert (await admin.post(PATH, {"url": "http://10.1.2.3:9000/", "events": ["*"]})).status == 201


@pytest.mark.either_database
async def test_a_tenant_has_only_so_many_webhooks(hooks, people, admin):
    made = await hooks.make()
    async with people.context(admin.user.tenant_id) as ctx:
        stored = await ctx.db.get(Webhook, made["id"])
        from msgspec.structs import replace

        from retinue.kit.crypto import Sealed

        await ctx.db.insert_many(
            replace(stored, id="", secrets=Sealed.of("x")) for _ in range(MAX_WEBHOOKS - 1)
        )
    refused = await admin.post(PATH, {"url": _URL, "events": [ORDER]})
    assert (refused.status, refused.code) == (409, "conflict")
