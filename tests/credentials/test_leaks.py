"""V1, V7, V8: whatever is done with credentials, their secrets lie nowhere and come back nowhere."""

import asyncio

from retinue.credentials.secret_access import CredentialPurpose, open_credential
from retinue.kit.db.databases import direct_url
from tests.canaries import hits, read_everything_stored
from tests.credentials.token_server import token_server
from tests.factories.credentials import CANARY, PATH, SECRETS, body_of, create, grant, reveal


async def do_everything(person, made) -> None:
    """The conftest looks at each answer, and at the log."""
    path = f"{PATH}/{made['id']}"
    secrets = SECRETS[made["type"]]
    await person.put(path, {"name": "Renamed", "secrets": secrets, "metadata": {"k": "v"}})
    await person.put(f"{path}/secrets", {"secrets": {"more": f"{CANARY}-more"}})
    await person.put(f"{path}/secrets", {"secrets": {"deep": [[[[[[[[f"{CANARY}"]]]]]]]]}})
    await person.put(f"{path}/secrets", {"secrets": f"{CANARY}"})
    await person.put(path, {"description": f"{CANARY}-more"})
    await person.request("PUT", f"{path}/secrets", content=b'{"secrets": {"x": "%s' % CANARY.encode())
    await grant(person, made["id"], "tool", "tool_1")
    await reveal(person, made["id"])
    for read in ("", "/audit", "/access", "/usage"):
        assert (await person.get(path + read)).status == 200


async def test_secrets_of_every_type_lie_nowhere_in_the_clear(owner, service, context_for, logged) -> None:
    for type in SECRETS:
        made = await create(owner, type)
        await owner.post(PATH, body_of(type), headers={"Idempotency-Key": f"once {type}"})
        await do_everything(owner, made)
    async with token_server() as server:
        made = await create(owner, "oauth2", secrets=server.secrets())
        server.refuse("invalid_grant", description=f"no such token: {server.refresh_token}")
        purpose = CredentialPurpose(via={"tool_id": "tool_1"}, destination="https://api.example.com")
        await asyncio.gather(open_credential(context_for(owner), made["id"], purpose), return_exceptions=True)
        await owner.post(f"{PATH}/{made['id']}/test", headers={"Idempotency-Key": "once"})
    await service.runner.drain()
    settings = service.settings
    stored = await read_everything_stored(settings.data_dir, direct_url(settings))
    assert made["id"].encode() in stored
    assert hits(stored, [CANARY]) == []
    assert hits(logged.getvalue().encode(), [CANARY]) == []
