"""Objects and calls of forms for the contract tests."""

from retinue.forms.models import Form, FormDraft, Submission
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.forms import SESSION, SomeForm, some_form
from tests.factories.providers import add_key_for


async def _make(world: World) -> dict[str, str]:
    form = await some_form(world.ctx, world.owner.id, world.name)
    return {**form._asdict(), "progress_id": SESSION}


CONTRACT = DomainContract(
    records=(Form, FormDraft, Submission),
    make=_make,
    # Public below a slug, and of that form only: tests/forms/test_conversation_life.py.
    shared={"form_slug", "form_conversation_id", "field_id", "progress_id"},
    texts={"upload_public_file": {"field_id": "paper"}},
)


async def _form(scene: Scene) -> SomeForm:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_form(ctx, scene.user.id)


def _path(form: SomeForm) -> dict[str, str]:
    return {**form._asdict(), "progress_id": "a-session-of-one-visitor"}


@CONTRACT.writes(forms=1)
async def create_form(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "fields": [{"type": "text", "label": "Name"}]})


@CONTRACT.writes("forms.name forms.updated_at")
async def update_form(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed"}, _path(await _form(scene)))


@CONTRACT.writes(form_drafts=1)
async def save_form_draft(scene: Scene) -> Call:
    return Call(scene.me, {"content": {"name": "Drafted"}}, _path(await _form(scene)))


@CONTRACT.writes()
async def preview_form(scene: Scene) -> Call:
    return Call(scene.me, {"fields": [{"type": "text", "label": "Name"}], "data": {"name": "Ada"}})


@CONTRACT.writes()
async def publish_form(scene: Scene) -> Call:
    return Call(scene.me, {"from_draft": False}, _path(await _form(scene)))


@CONTRACT.writes(form_submissions=1)
async def submit_form(scene: Scene) -> Call:
    return Call(scene.me, {"data": {"name": "Ada"}}, _path(await _form(scene)))


@CONTRACT.writes(
    "form_submissions.status form_submissions.notes form_submissions.processed_at form_submissions.updated_at"
)
async def update_submission(scene: Scene) -> Call:
    return Call(scene.me, {"status": "archived", "notes": "Done."}, _path(await _form(scene)))


@CONTRACT.writes(form_submissions=1)
async def submit_public_form(scene: Scene) -> Call:
    return Call(scene.api, {"data": {"name": "Ada"}}, _path(await _form(scene)))


@CONTRACT.writes()
async def save_progress(scene: Scene) -> Call:
    return Call(scene.api, {"data": {"name": "Ada"}}, _path(await _form(scene)))


@CONTRACT.writes("provider_keys.last_used_at", forms=1)
async def generate_form(scene: Scene) -> Call:
    await add_key_for(scene.me, scene.provider, models=["test-model"])
    scene.provider.says('{"name": "Trip", "fields": [{"id": "to", "type": "text", "label": "Where to?"}]}')
    return Call(scene.me, {"prompt": "A form for trips", "model": "test-model"})


@CONTRACT.writes()
async def start_form_conversation(scene: Scene) -> Call:
    return Call(scene.api, {"prefill": {"name": "Ada"}, "language": "en"}, _path(await _form(scene)))


@CONTRACT.writes()
async def say_to_form(scene: Scene) -> Call:
    return Call(scene.api, {"content": "Ada", "field_id": "name"}, _path(await _form(scene)))


@CONTRACT.writes()
async def stream_to_form(scene: Scene) -> Call:
    return Call(scene.api, {"content": "Ada", "field_id": "name"}, _path(await _form(scene)))
