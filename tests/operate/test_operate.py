"""The whole instance, seen and mended by super administrators only."""

import pytest

from retinue.access.models import Role
from retinue.adapters.mail.mail_queue import OutgoingMail
from retinue.app import Service
from retinue.kit.durable_files import replace_private_file
from retinue.kit.last_backup import LAST_BACKUP
from tests.client import Api
from tests.factories.broken_secrets import spoil
from tests.factories.happenings import audits
from tests.factories.mails import mails_to
from tests.factories.people import People
from tests.operate.contract import failed_job

PATH = "/api/v1/operate"


async def test_the_overview_names_checks_queues_mail_storage_backup_and_versions(
    service: Service, admin: Api
) -> None:
    shown = (await admin.get(PATH)).json()
    assert {"latency", "clock", "audit_heads", "events", "key", "disk", "worker", "last_backup"} <= {
        check["name"] for check in shown["checks"]
    }
    missing = next(check for check in shown["checks"] if check["name"] == "last_backup")
    assert (missing["status"], shown["last_backup"]) == ("warn", None)
    assert {"default", "mail", "webhooks"} <= {queue["name"] for queue in shown["queues"]}
    assert (shown["mail"]["transport"], shown["storage"]["files"]) == ("outbox", "folder")
    assert shown["storage"]["total_bytes"] >= shown["storage"]["free_bytes"] > 0
    assert shown["versions"]["database"].startswith(("SQLite 3", "PostgreSQL 1"))
    now = service.instance.clock.now()
    written = f'{{"created_at": "{now}", "file": "/srv/backups/b.tar", "bytes": 5}}'
    replace_private_file(service.settings.data_dir / LAST_BACKUP, written.encode())
    later = (await admin.get(PATH)).json()
    assert later["last_backup"] == {"created_at": now, "file": "b.tar", "bytes": 5}
    backup = next(check for check in later["checks"] if check["name"] == "last_backup")
    assert backup["status"] == "ok"


async def test_failed_jobs_are_found_and_run_again(service: Service, people: People, admin: Api) -> None:
    tenant = await people.tenant("Other")
    async with people.context(tenant.id) as ctx:
        job = await ctx.db.insert(failed_job())
    mail = next(one for one in (await admin.get(PATH)).json()["queues"] if one["name"] == "mail")
    assert (mail["failed"], mail["waiting"]) == (1, 0)
    listed = (await admin.get(f"{PATH}/jobs", query={"status": "failed"})).json()
    assert [one["id"] for one in listed["data"]] == [job.id]
    shown = listed["data"][0]
    assert (shown["tenant_id"], shown["kind"], shown["attempts"]) == (tenant.id, "mail.send", 5)
    assert "payload" not in shown
    retried = await admin.post(f"{PATH}/jobs/{job.id}/retry")
    assert (retried.status, retried.json()["status"], retried.json()["attempts"]) == (200, "waiting", 0)
    again = await admin.post(f"{PATH}/jobs/{job.id}/retry")
    assert (again.status, again.code) == (409, "job_not_failed")
    await service.runner.drain()
    assert (await admin.get(f"{PATH}/jobs", query={"kind": "mail.send"})).json()["data"] == []
    [audited] = await audits(people, "operate.job_retried")
    assert (audited.tenant_id, audited.metadata["job_id"]) == (tenant.id, job.id)
    assert (await admin.post(f"{PATH}/jobs/job_unknown/retry")).code == "queued_job_not_found"


async def test_a_job_that_nobody_knows_is_not_run_again(people: People, admin: Api) -> None:
    async with people.context(admin.user.tenant_id) as ctx:
        job = await ctx.db.insert(failed_job("spoons.bend"))
    refused = await admin.post(f"{PATH}/jobs/{job.id}/retry")
    assert (refused.status, refused.code) == (409, "job_not_failed")


async def test_waiting_mails_are_listed_without_their_links(
    service: Service, people: People, admin: Api
) -> None:
    await admin.post("/users/invite", {"email": "new@example.com", "role": "viewer"})
    answer = await admin.get(f"{PATH}/outbox")
    (mail,) = answer.json()["data"]
    assert (mail["to"], mail["subject"]) == ("new@example.com", "You are invited")
    assert (mail["status"], mail["last_error"]) == ("waiting", None)
    assert b"token" not in answer.body
    assert (await admin.get(PATH)).json()["mail"]["waiting"] == 1
    await service.runner.drain()
    assert (await admin.get(f"{PATH}/outbox")).json()["data"] == []
    assert len(await mails_to(service, "new@example.com")) == 1


async def test_a_mail_that_cannot_be_opened_hides_no_other(people: People, admin: Api) -> None:
    for address in ("one@example.com", "two@example.com"):
        await admin.post("/users/invite", {"email": address, "role": "viewer"})
    async with people.context(admin.user.tenant_id) as ctx:
        spoiled, _ = await ctx.db.all(OutgoingMail)
    await spoil(people, admin.user.tenant_id, OutgoingMail, "content", spoiled.id)
    mails = (await admin.get(f"{PATH}/outbox")).json()["data"]
    assert len(mails) == 2
    assert len([mail for mail in mails if mail["to"] is None]) == 1


@pytest.mark.parametrize("path", ["", "/outbox", "/jobs"])
async def test_it_is_for_super_administrators(people: People, path: str) -> None:
    boss = await people.signed_in(Role.tenant_admin)
    refused = await boss.get(f"{PATH}{path}")
    assert (refused.status, refused.code) == (403, "forbidden")
    assert (await boss.post(f"{PATH}/jobs/job_1/retry")).status == 403
