"""The audit log over the API: reading, verifying, and exports that prove themselves."""

import csv
import io
import json
from itertools import pairwise

import pytest
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.kit.db.statements import Statement
from retinue.kit.events.audit_export import BadExport, check_export
from retinue.kit.events.models import AuditEntry
from tests.audit.reading import AUDIT, export_of, keys_of, rows_of
from tests.client import Api
from tests.factories import credentials
from tests.factories.people import People


async def test_rows_are_listed_newest_first_with_the_head(owner: Api) -> None:
    rows = await rows_of(owner)
    sequences = [row["sequence"] for row in rows]
    assert sequences == list(range(len(rows), 0, -1))
    answer = (await owner.get(AUDIT, query={"per_page": 2})).json()
    assert answer["head"] == {"sequence": rows[0]["sequence"], "hash": rows[0]["hash"]}
    assert answer["pagination"]["total"] == len(rows)
    assert all(newer["previous_hash"] == older["hash"] for newer, older in pairwise(rows))
    assert rows[-1]["previous_hash"] == ""
    after = await rows_of(owner, after=sequences[2])
    assert [row["sequence"] for row in after] == sorted(sequences[:2])
    assert await rows_of(owner, after=sequences[0]) == []


async def test_rows_are_filtered_by_action_subject_and_actor(owner: Api) -> None:
    made = await rows_of(owner, action="system.credential.created")
    assert len(made) == 4
    assert await rows_of(owner, action="system.credential.*") == made
    assert await rows_of(owner, action="system.credential.%") == []
    subject = made[1]["subject_id"]
    assert {row["subject_id"] for row in await rows_of(owner, subject_id=subject)} == {subject}
    assert await rows_of(owner, actor_id=owner.user.id, action="system.credential.*") == made
    assert await rows_of(owner, actor_id="usr_nobody") == []


async def test_rows_are_filtered_by_success_correlation_and_time(owner: Api) -> None:
    made = await rows_of(owner, action="system.credential.*")
    assert await rows_of(owner, success="false", action="system.credential.*") == []
    same = await rows_of(owner, correlation_id=made[0]["correlation_id"], action="system.credential.*")
    assert same == [made[0]]
    assert await rows_of(owner, **{"from": "2999-01-01T00:00:00Z"}) == []
    assert len(await rows_of(owner, to="2999-01-01T00:00:00Z", action="system.credential.*")) == 4
    answer = await owner.get(AUDIT, query={"from": "yesterday"})
    assert (answer.status, list(answer.details)) == (422, ["from"])


async def test_only_administrators_read_it_and_only_their_own(owner: Api, people: People) -> None:
    tenant = await people.default_tenant()
    for role in (Role.agent_developer, Role.agent_user, Role.viewer):
        person = await people.signed_in(role, tenant)
        for path in ("", "/verify", "/export"):
            assert (await person.get(f"{AUDIT}{path}")).status == 403
    other = await people.signed_in(Role.tenant_admin, tenant)
    ids = {row["id"] for row in await rows_of(owner)}
    assert ids.isdisjoint(row["id"] for row in await rows_of(other))
    assert ids.isdisjoint(json.loads(line).get("id") for line in await export_of(other))


async def test_a_changed_row_is_found(owner: Api, people: People) -> None:
    verdict = (await owner.get(f"{AUDIT}/verify")).json()
    rows = await rows_of(owner)
    assert verdict == {
        "intact": True,
        "checked": len(rows),
        "head": {"sequence": rows[0]["sequence"], "hash": rows[0]["hash"]},
        "broken": None,
    }
    entries = AuditEntry.__table__
    async with people.context(owner.user.tenant_id) as ctx:
        change = (
            sa.update(entries).where(entries.c.id == sa.bindparam("row_id")).values(subject_id="cred_other")
        )
        await ctx.db.execute(Statement(change), row_id=rows[1]["id"])
    verdict = (await owner.get(f"{AUDIT}/verify")).json()
    assert (verdict["intact"], verdict["broken"]["id"]) == (False, rows[1]["id"])
    assert verdict["broken"]["sequence"] == rows[1]["sequence"]


async def test_an_export_proves_itself_and_is_a_row_of_the_log(owner: Api) -> None:
    before = await rows_of(owner)
    lines = await export_of(owner)
    manifest = check_export(lines, await keys_of(owner))
    assert (manifest.from_sequence, manifest.to_sequence, manifest.rows) == (1, len(before), len(before))
    assert (manifest.tenant_id, manifest.last_hash) == (owner.user.tenant_id, before[0]["hash"])
    (exported,) = await rows_of(owner, action="audit.exported")
    assert exported["metadata"] == {"format": "jsonl", "from_sequence": 1, "to_sequence": len(before)}
    shown = [{**json.loads(line)} for line in lines[:-1]]
    for row in shown:
        assert row.pop("tenant_id") == owner.user.tenant_id
    assert shown == before[::-1]


async def test_every_change_of_an_export_is_found(owner: Api) -> None:
    lines, keys = await export_of(owner), await keys_of(owner)
    whole = check_export(lines, keys)
    changed = [*lines]
    changed[2] = lines[2].replace(b'"success":true', b'"success":false')
    manifest = json.loads(lines[-1])["manifest"]
    shorter = {**manifest, "rows": manifest["rows"] - 1}
    unsigned = {**manifest, "signature": ""}
    cases = {
        "was changed": changed,
        "missing or not in its place": [*lines[:2], *lines[3:]],
        "not in its place": [lines[0], lines[2], lines[1], *lines[3:]],
        "is not valid": [*lines[:-1], json.dumps({"manifest": shorter}).encode()],
        "signature": [*lines[:-1], json.dumps({"manifest": unsigned}).encode()],
        "rows are not those": lines[1:],
        "of the manifest": [*lines[:-2], lines[-1]],
        "cut off": lines[:-1],
        "after the manifest": [*lines, lines[0]],
        "not JSON": [b"\xff\n", *lines[1:]],
        "not a row": [b"{}\n", *lines[1:]],
    }
    for reason, tampered in cases.items():
        with pytest.raises(BadExport, match=reason):
            check_export(tampered, keys)
    with pytest.raises(BadExport, match="not among those given"):
        check_export(lines, {"other": bytes(32)})
    with pytest.raises(BadExport, match="signature"):
        check_export(lines, {whole.key_id: bytes(32)})


async def test_a_period_is_a_range_of_the_chain(owner: Api) -> None:
    rows = (await rows_of(owner))[::-1]
    lines = await export_of(owner, **{"from": rows[1]["created_at"], "to": rows[2]["created_at"]})
    manifest = check_export(lines, await keys_of(owner))
    assert manifest.from_sequence <= 2
    assert manifest.to_sequence >= 3
    assert manifest.first_previous_hash == rows[manifest.from_sequence - 2]["hash"]
    empty = await export_of(owner, **{"from": "2999-01-01T00:00:00Z"})
    assert check_export(empty, await keys_of(owner)).rows == 0


async def test_a_table_has_no_formulas(people: People) -> None:
    owner = await people.signed_in(Role.tenant_admin, await people.tenant("Formulas"))
    formula = {"User-Agent": "=cmd|'/c calc'!A1"}
    assert (await owner.post(credentials.PATH, credentials.body_of(), headers=formula)).status == 201
    answer = await owner.get(f"{AUDIT}/export", query={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert {row["user_agent"][:2] for row in rows if "cmd" in row["user_agent"]} == {"'="}
