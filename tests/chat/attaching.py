"""Files for attachments, and what a provider got of them."""

import base64
from io import BytesIO
from typing import Any

import msgspec
from PIL import Image

from tests.adapters.llm_server import KEY, ProviderServer, Request
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.providers import add_key

Json = dict[str, Any]
CANARY = b"CANARY-52.5200N-13.4050E"
MODELS = {"openai": "gpt-4o", "anthropic": "claude-sonnet-5"}


def photo(width: int = 60, height: int = 40, format: str = "JPEG", **options: Any) -> bytes:
    content = BytesIO()
    mode = "RGBA" if format in {"PNG", "WEBP"} and options.pop("alpha", False) else "RGB"
    colour = (200, 30, 30, 90)[: len(mode)]
    Image.new(mode, (width, height), colour).save(content, format, **options)
    return content.getvalue()


def photo_with_canary() -> bytes:
    """A JPEG that says where it was taken, twice, and has bytes after its end."""
    exif = Image.Exif()
    exif[0x010E] = CANARY.decode()
    return photo(exif=exif.tobytes(), comment=CANARY) + CANARY


async def seeing_agent(admin: Api, provider: ProviderServer, name: str, **body: Any) -> Json:
    """An agent with a model that sees, of one protocol or the other."""
    base = f"{provider.url}/v1"
    await add_key(admin, provider=name, api_key=KEY, base_url=base, models=[MODELS[name]])
    return await make_agent(admin, primary_model=f"{name}/{MODELS[name]}", status="published", **body)


async def upload(person: Api, filename: str, content: bytes, purpose: str = "chat") -> str:
    answer = await person.post(
        "/api/v1/files",
        files={"file": (filename, content, "application/octet-stream")},
        fields={"purpose": purpose},
    )
    assert answer.status == 201, answer
    return str(answer.json()["data"]["file_id"])


def refs(*file_ids: str) -> list[Json]:
    return [{"file_id": file_id} for file_id in file_ids]


def chats_of(provider: ProviderServer) -> list[Request]:
    return [one for one in provider.requests if not one.path.endswith("/models")]


def images_in(request: Request) -> list[bytes]:
    """The images of a request in the protocol of either provider."""
    found = []
    for message in request.json["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part["type"] == "image_url":
                found.append(base64.b64decode(part["image_url"]["url"].partition("base64,")[2]))
            elif part["type"] == "image":
                found.append(base64.b64decode(part["source"]["data"]))
    return found


def texts_of(message: Json) -> str:
    """The text of a message of a request, without its images."""
    if isinstance(message["content"], str):
        return message["content"]
    return "\n".join(part["text"] for part in message["content"] if part["type"] == "text")


def as_read(request: Json) -> str:
    """Return a request in the order in which a provider reads it, without fields it does not read."""
    system = [request["system"]] if "system" in request else []
    text = msgspec.json.encode([request.get("tools", []), system, list(request["messages"])]).decode()
    return text.replace(',"cache_control":{"type":"ephemeral"}', "")
