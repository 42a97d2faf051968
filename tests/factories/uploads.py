"""Files that are uploaded through the API."""

from io import BytesIO
from urllib.parse import parse_qsl, urlsplit

from PIL import Image

from tests.client import Api


def picture() -> bytes:
    content = BytesIO()
    Image.new("RGB", (8, 8), (200, 30, 30)).save(content, "PNG")
    return content.getvalue()


async def upload_avatar(person: Api) -> str:
    answer = await person.post("/api/v1/profile/avatar", files={"avatar": ("a.png", picture(), "image/png")})
    assert answer.status == 200, answer
    return answer.json()["avatar_url"].rpartition("/")[2]


async def upload_file(person: Api) -> str:
    answer = await person.post("/api/v1/files", files={"file": ("a.txt", b"x", "text/plain")})
    assert answer.status == 201, answer
    return str(answer.json()["data"]["file_id"])


async def signed_query(person: Api, file_id: str) -> dict[str, str]:
    """Return the query parameters in the signed URL of a file."""
    answer = await person.post(f"/api/v1/files/{file_id}/url")
    return dict(parse_qsl(urlsplit(answer.json()["data"]["url"]).query))
