"""Forms are made, changed, published, archived, copied and deleted; their versions stay."""

import functools
import re
import unicodedata
from os import urandom
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.forms import searching, uploading
from retinue.forms.addresses import page_address
from retinue.forms.configuring import read_branding, read_settings
from retinue.forms.errors import FormNotFound, FormVersionNotFound
from retinue.forms.events import FormCreated, FormDeleted, FormEvent, FormPublished, FormUpdated
from retinue.forms.models import (
    DataTableConfig,
    Form,
    FormConversation,
    FormDay,
    FormStatus,
    FormUpload,
    FormVersion,
    Progress,
    Submission,
)
from retinue.forms.queries import BATCH, FORMS, submission_counts, totals
from retinue.forms.schemas import (
    FormCreate,
    FormList,
    FormOut,
    FormState,
    FormStats,
    FormSummary,
    FormUpdate,
    TableConfigIn,
)
from retinue.kit.context import Context
from retinue.kit.db.models import TenantRecord
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.fields import read_fields
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import Retry, job
from retinue.kit.lists import Page
from retinue.kit.schemas import given

R = TypeVar("R", bound=TenantRecord)

LARGEST_DEFINITION = 512 * 1024
_LONGEST_NAME = 100
_RANDOM_LETTERS = 8
_COPY = " (copy)"

_ALLOWED = {
    FormStatus.draft: (FormStatus.published, FormStatus.archived),
    FormStatus.published: (FormStatus.draft, FormStatus.archived),
    FormStatus.archived: (FormStatus.draft,),
}


async def page(ctx: Context, query: FormList) -> Page[FormSummary]:
    found = await FORMS.page(ctx.db, query)
    counts = await submission_counts(ctx, [form.id for form in found.items])
    return found.shown(
        lambda form: FormSummary.of(form, field_count=len(form.fields), submission_count=counts[form.id])
    )


async def shown(ctx: Context, form: Form) -> FormOut:
    known = await totals(ctx, form.id)
    stats = FormStats(
        submissions=known.submissions,
        views=known.views,
        conversion_rate=rate(known.submissions, known.views),
    )
    url = page_address(ctx, form.slug)
    return FormOut.of(form, field_count=len(form.fields), stats=stats, public_url=url)


def rate(part: int, whole: int) -> float:
    """In percent; never more than all of it."""
    return min(100.0, round(100 * part / whole, 1)) if whole else 0.0


async def create(ctx: Context, body: FormCreate) -> Form:
    form = Form(
        id=new_id(Form.__prefix__),
        name=body.name,
        slug=new_slug(body.name),
        description=body.description or "",
        fields=_fields(body.fields),
        settings=read_settings(ctx, body.settings),
        branding=read_branding(ctx, body.branding),
        workflow_id=body.workflow_id or None,
        data_table_config=_table_config(body.data_table_config),
        created_by=ctx.principal.id,
    )
    return await _add(ctx, form)


async def _add(ctx: Context, form: Form) -> Form:
    await ctx.db.insert(form)
    await _keep_version(ctx, form)
    ctx.emit(_event(FormCreated, form))
    return form


def _fields(given_fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    fields = read_fields(given_fields)
    if len(msgspec.json.encode(fields)) > LARGEST_DEFINITION:
        raise Invalid({"fields": f"are larger than {LARGEST_DEFINITION // 1024} KiB together"})
    return fields


def _table_config(config: TableConfigIn | None) -> DataTableConfig | None:
    return None if config is None else msgspec.convert(msgspec.to_builtins(config), DataTableConfig)


def new_slug(name: str) -> str:
    """`Contact us` becomes `contact-us-` and 40 random bits: nobody guesses it, and none comes twice."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "form"
    letters = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte & 31] for byte in urandom(_RANDOM_LETTERS))
    return f"{stem}-{letters.decode()}"


async def _keep_version(ctx: Context, form: Form) -> None:
    await ctx.db.insert(
        FormVersion(form_id=form.id, version=form.version, fields=form.fields, created_by=ctx.principal.id)
    )


async def update(ctx: Context, form: Form, body: FormUpdate) -> Form:
    held = await _hold(ctx, form.id)
    changes = _changes(ctx, given(body))
    changes = {name: value for name, value in changes.items() if getattr(held, name) != value}
    if not changes:
        return held
    if "fields" in changes:
        await _change_version(ctx, held, changes)
    await ctx.db.update(held, **changes)
    ctx.emit(_event(FormUpdated, held))
    return held


def _changes(ctx: Context, wanted: dict[str, Any]) -> dict[str, Any]:
    if "fields" in wanted:
        wanted["fields"] = _fields(wanted["fields"])
    if "settings" in wanted:
        wanted["settings"] = read_settings(ctx, wanted["settings"])
    if "branding" in wanted:
        wanted["branding"] = read_branding(ctx, wanted["branding"])
    if "description" in wanted:
        wanted["description"] = wanted["description"] or ""
    if "workflow_id" in wanted:
        wanted["workflow_id"] = wanted["workflow_id"] or None
    if "data_table_config" in wanted:
        wanted["data_table_config"] = _table_config(wanted["data_table_config"])
    return wanted


async def _change_version(ctx: Context, held: Form, changes: dict[str, Any]) -> None:
    """What was ever published may have submissions, which keep the fields they were made with."""
    if held.published_at is not None:
        changes["version"] = held.version + 1
        held.fields, held.version = changes["fields"], changes["version"]
        await _keep_version(ctx, held)
        return
    kept = await ctx.db.find(FormVersion, form_id=held.id, version=held.version)
    if kept is not None:
        await ctx.db.update(kept, fields=changes["fields"])


async def _hold(ctx: Context, form_id: str) -> Form:
    held = await ctx.db.lock(Form, form_id)
    if held is None:
        raise FormNotFound
    return held


async def move(ctx: Context, form: Form, status: FormStatus) -> FormState:
    """To another state; one that is in it already stays as it is."""
    held = await _hold(ctx, form.id)
    if held.status is status:
        return FormState.of(held)
    if status not in _ALLOWED[held.status]:
        allowed = [one.value for one in _ALLOWED[held.status]]
        raise InvalidTransition(held.status.value, status.value, allowed)
    changes: dict[str, Any] = {"status": status}
    if status is FormStatus.published:
        changes["published_at"] = ctx.now
    await ctx.db.update(held, **changes)
    ctx.emit(_event(FormPublished if status is FormStatus.published else FormUpdated, held))
    return FormState.of(held)


async def duplicate(ctx: Context, form: Form) -> Form:
    name = form.name[: _LONGEST_NAME - len(_COPY)] + _COPY
    copied = {
        field: getattr(form, field)
        for field in ("description", "fields", "settings", "branding", "workflow_id", "data_table_config")
    }
    copy = Form(
        id=new_id(Form.__prefix__),
        name=name,
        slug=new_slug(form.name),
        created_by=ctx.principal.id,
        **copied,
    )
    return await _add(ctx, copy)


async def versions(ctx: Context, form: Form) -> list[FormVersion]:
    return await ctx.db.all(FormVersion, form_id=form.id, order_by=("-version",))


async def fetch_version(ctx: Context, form: Form, number: str) -> FormVersion:
    is_number = number.isascii() and number.isdigit() and len(number) <= 15
    found = await ctx.db.find(FormVersion, form_id=form.id, version=int(number)) if is_number else None
    if found is None:
        raise FormVersionNotFound
    return found


async def delete(ctx: Context, form: Form) -> None:
    """The form is gone at once; its submissions and files are erased step by step."""
    held = await _hold(ctx, form.id)
    await ctx.db.delete(held)
    ctx.defer(erase_form, FormToErase(held.id))
    ctx.emit(_event(FormDeleted, held))


@functools.cache
def _some(kind: type[R]) -> Statement[R]:
    table = kind.__table__
    return reading(kind, sa.select(table).where(table.c.form_id == sa.bindparam("form_id")).limit(BATCH))


@functools.cache
def _erasing(kind: type[TenantRecord]) -> Statement[Any]:
    table = kind.__table__
    some = sa.select(table.c.id).where(table.c.form_id == sa.bindparam("form_id")).limit(BATCH)
    return Statement(sa.delete(table).where(table.c.id.in_(some)))


class FormToErase(msgspec.Struct):
    form_id: str


@job(retry=Retry((0, 30, 300, 3600)), timeout_s=1800, transactional=False)
async def erase_form(ctx: Context, payload: FormToErase) -> None:
    """In small steps, so that nobody waits long for the rows."""
    while True:
        async with ctx.unit() as unit:
            uploads = await unit.db.rows(_some(FormUpload), form_id=payload.form_id)
            await uploading.remove_files(unit, [upload.id for upload in uploads])
        if len(uploads) < BATCH:
            break
    for kind in (Submission, Progress, FormConversation, FormDay, FormVersion):
        removed = BATCH
        while removed >= BATCH:
            async with ctx.unit() as unit:
                removed = await unit.db.execute(_erasing(kind), form_id=payload.form_id)
    await searching.erase(ctx, payload.form_id)


def _event(kind: type[FormEvent], form: Form) -> FormEvent:
    return kind(
        form_id=form.id, name=form.name, slug=form.slug, status=form.status.value, version=form.version
    )
