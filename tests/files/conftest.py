import pytest

from tests.client import Api, Response


class Files:
    """Calls the files API as one person."""

    PATH = "/api/v1/files"

    def __init__(self, person: Api) -> None:
        self.person = person

    async def send(self, filename: str, content: bytes, purpose: str | None = "chat", **more) -> Response:
        fields = {} if purpose is None else {"purpose": purpose}
        files = {"file": (filename, content, "application/octet-stream")}
        return await self.person.post(self.PATH, files=files, fields=fields, **more)

    async def upload(self, filename: str = "notes.txt", content: bytes = b"hello", purpose="chat") -> dict:
        answer = await self.send(filename, content, purpose)
        assert answer.status == 201, answer
        return answer.json()["data"]

    async def list(self, **query) -> list[str]:
        answer = await self.person.get(self.PATH, query=query)
        assert answer.status == 200, answer
        return [file["file_id"] for file in answer.json()["data"]]

    async def get(self, file_id: str) -> Response:
        return await self.person.get(f"{self.PATH}/{file_id}")

    async def content(self, file_id: str, **more) -> Response:
        return await self.person.get(f"{self.PATH}/{file_id}/content", **more)

    async def share(self, file_id: str, body: object = None) -> Response:
        return await self.person.post(f"{self.PATH}/{file_id}/url", body)

    async def delete(self, file_id: str, **query) -> Response:
        return await self.person.delete(f"{self.PATH}/{file_id}", query=query)


@pytest.fixture
async def files_of(people):
    """The files API as a new person of this role, in the default tenant unless another is given."""

    async def sign_in(role: str = "agent_developer", tenant=None) -> Files:
        return Files(await people.signed_in(role, tenant))

    return sign_in


@pytest.fixture
async def files(files_of) -> Files:
    return await files_of()
