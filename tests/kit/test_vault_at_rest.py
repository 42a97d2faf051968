"""V1 and V2: a stolen database tells no secret, and moved ciphertext opens nowhere."""

import base64
import itertools

import pytest
import sqlalchemy as sa

from retinue.adapters.mail.mail_queue import OutgoingMail, enqueue_mail
from retinue.adapters.mail.message import Mail
from retinue.auth.models import MfaDevice
from retinue.kit.crypto import DecryptFailed, RootKey, Sealed
from retinue.kit.db.databases import direct_url
from retinue.kit.db.statements import Statement
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import RotationTiming, rotate_key
from tests.canaries import forms, hits, read_everything_stored
from tests.captured_logs import captured_logs
from tests.factories.mails import mails_to
from tests.kit.sealed_records import plant, reread, secret_of

AT_ONCE = RotationTiming(learn_s=0, settle_s=0)


def canary(table):
    return f'CANARY-"{table}"-7f3a9c51e8d24b60'


async def read_stored(service):
    return await read_everything_stored(service.settings.data_dir, direct_url(service.settings))


async def test_the_search_finds_a_secret_in_each_of_its_forms():
    secret = canary("x")
    for form in forms(secret):
        assert hits(b"before " + form + b" after", [secret])
    for shift in range(4):
        assert hits(base64.b64encode(b"y" * shift + secret.encode() + b"zz"), [secret])


async def test_no_secret_of_any_sealed_column_lies_in_the_database_in_the_clear(service, people):
    planted = await plant(people, canary)
    secrets = [secret for _, secret in planted]
    stored = await read_stored(service)
    for record, _ in planted:
        assert record.id.encode() in stored
        assert await ciphertext_of(people, record) in stored
    assert hits(stored, secrets) == []
    await rotate_key(service.instance, pace=AT_ONCE)
    await rotate_root(service.instance, RootKey.generate())
    assert hits(await read_stored(service), secrets) == []
    keys = [service.instance.vault.pepper, *service.instance.tokens.keys.by_id().values()]
    keys += service.instance.ring._versions.values()
    assert not any(key in stored for key in keys)


async def test_a_plain_column_would_be_found(service, people):
    """The search looks where the data is."""
    await people.user(first_name=canary("users").replace('"', ""))
    assert hits(
        await read_stored(service),
        [canary("users").replace('"', "")],
    )


@pytest.fixture
def logged(service):
    with captured_logs(service.settings) as written:
        yield written


async def test_no_secret_reaches_the_log_when_it_is_stored_used_or_fails(service, people, logged):
    planted = await plant(people, canary)
    secrets = [secret for _, secret in planted]
    await rotate_key(service.instance, pace=AT_ONCE)
    for record, secret in planted:
        assert await reread(people, record) == secret
        with pytest.raises(DecryptFailed):
            await bend(people, record)
    await service.runner.drain()
    assert "key_rotated" in logged.getvalue()
    assert hits(logged.getvalue().encode(), secrets) == []


def setter(record, field):
    table = record.__table__
    key = [table.c.id == sa.bindparam("record_id")]
    return Statement(
        sa.update(table).where(*key).values({field: sa.bindparam("bytes", type_=sa.LargeBinary())})
    )


async def overwrite(people, record, ciphertext):
    """Replace a ciphertext, as somebody with access to the database can."""
    field, *_ = type(record).__shape__.sealed
    async with people.context() as ctx:
        changed = await ctx.system("test").execute(
            setter(type(record), field), record_id=record.id, bytes=ciphertext
        )
    assert changed == 1


async def ciphertext_of(people, record):
    async with people.context() as ctx:
        return secret_of(await ctx.system("test").get(type(record), record.id))._bytes


async def bend(people, record):
    good = await ciphertext_of(people, record)
    await overwrite(people, record, good[:-1] + bytes([good[-1] ^ 1]))
    try:
        return await reread(people, record)
    finally:
        await overwrite(people, record, good)


async def refuses(people, record, ciphertext):
    await overwrite(people, record, ciphertext)
    with pytest.raises(DecryptFailed) as refusal:
        await reread(people, record)
    assert (refusal.value.status, refusal.value.code) == (500, "decrypt_failed")


async def devices_of(people, *tenants):
    made = []
    for tenant in tenants:
        user = await people.user(tenant=tenant)
        async with people.context(user.tenant_id) as ctx:
            secret = Sealed.of(f"seed of {user.id}")
            made.append(await ctx.db.insert(MfaDevice(user_id=user.id, name="phone", secret=secret)))
    return made


async def test_a_ciphertext_copied_to_another_row_of_the_tenant_does_not_open(people):
    tenant = await people.tenant()
    one, two = await devices_of(people, tenant, tenant)
    first, second = await ciphertext_of(people, one), await ciphertext_of(people, two)
    await refuses(people, one, second)
    await refuses(people, two, first)
    await refuses(people, one, first[:65] + second[65:])
    await refuses(people, one, second[:65] + first[65:])
    await overwrite(people, one, first)
    assert await reread(people, one) == f"seed of {one.user_id}"


async def test_a_ciphertext_copied_to_another_tenant_does_not_open(people):
    one, two = await devices_of(people, await people.tenant("A"), await people.tenant("B"))
    await refuses(people, two, await ciphertext_of(people, one))


async def test_a_row_moved_to_another_tenant_does_not_open(people, service):
    """Everything of the row moves, its id as well; only the tenant is another."""
    home, away = await people.tenant("A"), await people.tenant("B")
    (device,) = await devices_of(people, home)
    thief = await people.user(tenant=away)
    table = MfaDevice.__table__
    move = Statement(
        sa.update(table)
        .where(table.c.id == sa.bindparam("record_id"))
        .values(tenant_id=sa.bindparam("away"), user_id=sa.bindparam("thief"))
    )
    async with people.context() as ctx:
        await ctx.system("test").execute(move, record_id=device.id, away=away.id, thief=thief.id)
    async with people.context(away.id) as ctx:
        stolen = await ctx.db.get(MfaDevice, device.id)
        with pytest.raises(DecryptFailed):
            stolen.secret.open(service.instance.ring)


async def test_a_ciphertext_copied_to_another_table_or_field_does_not_open(people):
    planted = [record for record, _ in await plant(people, canary)]
    ciphertexts = [await ciphertext_of(people, record) for record in planted]
    for target, source in itertools.permutations(range(len(planted)), 2):
        await refuses(people, planted[target], ciphertexts[source])


async def test_a_ciphertext_that_names_another_version_does_not_open(people, service):
    (device,) = await devices_of(people, await people.tenant())
    before = await ciphertext_of(people, device)
    await rotate_key(service.instance, pace=AT_ONCE)
    after = await ciphertext_of(people, device)
    for version in (0, 1, 3, 2**32 - 1):
        await refuses(people, device, after[:1] + version.to_bytes(4, "big") + after[5:])
    await refuses(people, device, before)
    await overwrite(people, device, after)
    assert await reread(people, device) == f"seed of {device.user_id}"


async def test_a_bent_mail_is_not_sent(people, service):
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        await enqueue_mail(
            ctx, Mail(to="ada@example.com", subject="Hello", text="secret link", html="<p>x</p>")
        )
    async with people.context(tenant.id) as ctx:
        (stored,) = await ctx.db.all(OutgoingMail)
    good = await ciphertext_of(people, stored)
    await overwrite(people, stored, good[:-1] + bytes([good[-1] ^ 1]))
    assert await mails_to(service, "ada@example.com") == []
