"""Requests with an idempotency key, and what they leave in the database."""

from retinue.files.models import File
from retinue.kit.http.idempotency import IdempotencyKey
from tests.client import Api, Response
from tests.factories.people import People

NOTES = "/planted/notes"


async def post(caller: Api, path: str = NOTES, name: str = "a", key: str = "key", **more) -> Response:
    more.setdefault("json", {"name": name})
    return await caller.request("POST", path, headers={"Idempotency-Key": key}, **more)


def is_replay(answer: Response) -> bool:
    return answer.headers.get("idempotent-replayed") == "true"


async def notes(people: People) -> int:
    async with people.context() as ctx:
        return await ctx.system("test").count(File, purpose="planted")


async def list_claims(people: People) -> list[IdempotencyKey]:
    async with people.context() as ctx:
        return await ctx.system("test").all(IdempotencyKey)
