"""Forms: through the API, or straight into the database with a submission and a file."""

from typing import Any, NamedTuple

from retinue.adapters.blobs import Blobs
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.forms import service
from retinue.forms.intake.progress import progress_id
from retinue.forms.models import (
    Form,
    FormConversation,
    FormMessage,
    FormStatus,
    FormUpload,
    Progress,
    Submission,
)
from retinue.forms.schemas import FormCreate
from retinue.kit.context import Context
from tests.client import Api, Response

PATH = "/api/v1/forms"
SESSION = "a-session-of-some-visitor"
PUBLIC = "/api/v1/public/forms"

NAME = {"id": "name", "type": "text", "label": "Name", "required": True}
EMAIL = {"id": "email", "type": "email", "label": "E-mail"}


async def make_form(api: Api, *fields: dict[str, Any], is_draft: bool = False, **more: Any) -> dict[str, Any]:
    """A published form, of a name and an address unless other fields are given."""
    answer = await api.post(PATH, {"name": "Contact", "fields": list(fields or (NAME, EMAIL)), **more})
    assert answer.status == 201, answer
    form = answer.json()["data"]
    if not is_draft:
        assert (await api.post(f"{PATH}/{form['id']}/publish")).status == 200
    return form


def address(form: dict[str, Any], *rest: str) -> str:
    """Return the path of the public side of a form."""
    return "/".join((PUBLIC, form["slug"], *rest))


async def send(api: Api, form: dict[str, Any], data: Any = None, **more: Any) -> Response:
    """Submit the public form."""
    return await api.post(address(form, "submit"), {"data": data or {"name": "Ada"}, **more})


async def submit(api: Api, form: dict[str, Any], data: Any = None, **more: Any) -> str:
    answer = await send(api, form, data, **more)
    assert answer.status == 201, answer
    return str(answer.json()["data"]["submission_id"])


async def submission(api: Api, form: dict[str, Any], id: str) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/{form['id']}/submissions/{id}")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def submissions(api: Api, form: dict[str, Any], **query: Any) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/{form['id']}/submissions", query=query)
    assert answer.status == 200, answer
    return answer.json()


class SomeForm(NamedTuple):
    form_id: str
    form_slug: str
    field_id: str
    submission_id: str
    form_file_id: str
    form_conversation_id: str


async def some_form(ctx: Context, user_id: str, name: str = "Form") -> SomeForm:
    """A published form with a submission, a file and a conversation."""
    fields = [{"id": "name", "type": "text", "label": name}, {"id": "paper", "type": "file"}]
    form = await service.create(ctx, FormCreate(name=name, fields=fields))
    await ctx.db.update(form, status=FormStatus.published, published_at=ctx.now, created_by=user_id)
    one = await ctx.db.insert(some_submission(form, name))
    file = await ctx.db.insert(
        File(filename=name, mime_type="text/plain", size_bytes=1, sha256="x", purpose="form")
    )
    content = ctx.settings.data_dir / f"{file.id}.upload"
    content.write_bytes(b"x")
    await ctx.adapter(Blobs).put(blob_key(file), content)
    await ctx.db.insert(FormUpload(id=file.id, form_id=form.id, field_id="paper", submission_id=one.id))
    saved = progress_id(form.id, SESSION)
    assert saved is not None
    await ctx.db.insert(Progress(id=saved, form_id=form.id, data={"name": name}))
    talk = await ctx.db.insert(FormConversation(form_id=form.id, answers={"name": name}, asked="paper"))
    said = FormMessage(conversation_id=talk.id, position=1, role="assistant", content=name, field_id="name")
    await ctx.db.insert(said)
    await ctx.db.update(talk, message_count=1)
    return SomeForm(form.id, form.slug, "name", one.id, file.id, talk.id)


def some_submission(form: Form, name: str = "Ada") -> Submission:
    return Submission(
        form_id=form.id,
        form_version=form.version,
        data={"name": name},
        metadata={"source": "api"},
        source="api",
        searched=name.casefold(),
    )


async def upload(api, form, name="a.txt", content=b"hello", field="paper"):
    files = {"file": (name, content, "application/x-whatever")}
    return await api.post(address(form, "upload"), files=files, fields={"field_id": field})
