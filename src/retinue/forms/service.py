"""Forms: create, update, publish, archive, duplicate, delete; and their versions."""

import functools
import re
import unicodedata
from os import urandom
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, UnsetType

from retinue.forms.after import search_index
from retinue.forms.after.analytics import percentage
from retinue.forms.errors import FormNotFound, FormVersionNotFound
from retinue.forms.events import FormCreated, FormDeleted, FormEvent, FormPublished, FormUpdated
from retinue.forms.form_settings import validate_branding, validate_settings
from retinue.forms.intake import file_uploads
from retinue.forms.job_kinds import ERASE_FORM, FormToErase
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
from retinue.forms.queries import ERASE_BATCH_SIZE, FORMS, load_totals, submission_counts
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
from retinue.forms.urls import page_url
from retinue.kit.context import Context
from retinue.kit.db.models import TenantRecord
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Page
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.fields import find_missing_condition_values, read_fields
from retinue.kit.schema.fields.unknown_keys import find_unknown_field_keys

R = TypeVar("R", bound=TenantRecord)

CONTENT_FIELDS = (
    "name",
    "description",
    "fields",
    "settings",
    "branding",
    "workflow_id",
    "data_table_config",
)
"""Fields that editors write; the others tell what became of it."""

MAX_DEFINITION_BYTES = 512 * 1024
_MAX_NAME_LENGTH = 100
_SLUG_SUFFIX_LENGTH = 8
_COPY_SUFFIX = " (copy)"

_ALLOWED_TRANSITIONS = {
    FormStatus.draft: (FormStatus.published, FormStatus.archived),
    FormStatus.published: (FormStatus.draft, FormStatus.archived),
    FormStatus.archived: (FormStatus.draft,),
}


async def page(ctx: Context, query: FormList) -> Page[FormSummary]:
    result = await FORMS.page(ctx.db, query)
    counts = await submission_counts(ctx, [form.id for form in result.items])
    return result.to_page(
        lambda form: FormSummary.of(form, field_count=len(form.fields), submission_count=counts[form.id])
    )


async def render_form(ctx: Context, form: Form, answer_counts: dict[str, int] | UnsetType = UNSET) -> FormOut:
    totals = await load_totals(ctx, form.id)
    stats = FormStats(
        submissions=totals.submissions,
        views=totals.views,
        conversion_rate=percentage(totals.submissions, totals.views),
    )
    url = page_url(ctx, form.slug)
    return FormOut.of(
        form, field_count=len(form.fields), stats=stats, answer_counts=answer_counts, public_url=url
    )


async def create(ctx: Context, body: FormCreate) -> Form:
    form = Form(
        id=new_id(Form.__prefix__),
        name=body.name,
        slug=new_slug(body.name),
        description=body.description or "",
        fields=read_form_fields(ctx, body.fields),
        settings=validate_settings(ctx, body.settings),
        branding=validate_branding(ctx, body.branding),
        workflow_id=body.workflow_id or None,
        data_table_config=_table_config(body.data_table_config),
        created_by=ctx.principal.id,
    )
    _check_conditions(form.fields)
    return await _add(ctx, form)


def _check_conditions(fields: list[JsonObject]) -> None:
    problems = find_missing_condition_values(fields)
    if problems:
        raise Invalid(problems)


async def _add(ctx: Context, form: Form) -> Form:
    await ctx.db.insert(form)
    await _store_version(ctx, form)
    ctx.emit(_event(FormCreated, form))
    return form


def read_form_fields(ctx: Context, given_fields: list[JsonObject]) -> list[JsonObject]:
    """Return the definitions as they are stored; raise with the paths of those that are invalid."""
    fields = read_fields(given_fields)
    if ctx.caller.ignored is not None:
        ctx.caller.ignored.report(find_unknown_field_keys(given_fields))
    if len(msgspec.json.encode(fields)) > MAX_DEFINITION_BYTES:
        raise Invalid({"fields": f"must be at most {MAX_DEFINITION_BYTES // 1024} KiB in total"})
    return fields


def _table_config(config: TableConfigIn | None) -> DataTableConfig | None:
    return None if config is None else msgspec.convert(msgspec.to_builtins(config), DataTableConfig)


def new_slug(name: str) -> str:
    """Return `contact-us-` and 40 random bits for `Contact us`: unguessable and unique."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "form"
    letters = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte & 31] for byte in urandom(_SLUG_SUFFIX_LENGTH))
    return f"{stem}-{letters.decode()}"


async def _store_version(ctx: Context, form: Form) -> None:
    await ctx.db.insert(
        FormVersion(form_id=form.id, version=form.version, fields=form.fields, created_by=ctx.principal.id)
    )


async def update(ctx: Context, form: Form, body: FormUpdate) -> Form:
    locked = await lock_form(ctx, form.id)
    changes = read_changes(ctx, sent_fields(body))
    changes = {name: value for name, value in changes.items() if getattr(locked, name) != value}
    if not changes:
        return locked
    if "fields" in changes:
        _check_conditions(changes["fields"])
        await _update_version(ctx, locked, changes)
    await ctx.db.update(locked, **changes)
    ctx.emit(_event(FormUpdated, locked))
    return locked


def read_changes(ctx: Context, sent: JsonObject) -> JsonObject:
    """Return the sent fields as they are stored; raise if a draft may not contain them."""
    if "fields" in sent:
        sent["fields"] = read_form_fields(ctx, sent["fields"])
    if "settings" in sent:
        sent["settings"] = validate_settings(ctx, sent["settings"])
    if "branding" in sent:
        sent["branding"] = validate_branding(ctx, sent["branding"])
    if "description" in sent:
        sent["description"] = sent["description"] or ""
    if "workflow_id" in sent:
        sent["workflow_id"] = sent["workflow_id"] or None
    if "data_table_config" in sent:
        sent["data_table_config"] = _table_config(sent["data_table_config"])
    return sent


async def _update_version(ctx: Context, locked: Form, changes: JsonObject) -> None:
    """Create a new version if the form was ever published: its submissions keep their fields."""
    if locked.published_at is not None:
        changes["version"] = locked.version + 1
        locked.fields, locked.version = changes["fields"], changes["version"]
        await _store_version(ctx, locked)
        return
    current = await ctx.db.find(FormVersion, form_id=locked.id, version=locked.version)
    if current is not None:
        await ctx.db.update(current, fields=changes["fields"])


async def lock_form(ctx: Context, form_id: str) -> Form:
    locked = await ctx.db.lock(Form, form_id)
    if locked is None:
        raise FormNotFound
    return locked


async def change_status(ctx: Context, form: Form, status: FormStatus) -> FormState:
    """Change the state of a form; a form already in it stays unchanged."""
    locked = await lock_form(ctx, form.id)
    if locked.status is status:
        return FormState.of(locked)
    if status not in _ALLOWED_TRANSITIONS[locked.status]:
        allowed = [allowed_status.value for allowed_status in _ALLOWED_TRANSITIONS[locked.status]]
        raise InvalidTransition(locked.status.value, status.value, allowed)
    changes: JsonObject = {"status": status}
    if status is FormStatus.published:
        changes["published_at"] = ctx.now
    await ctx.db.update(locked, **changes)
    ctx.emit(_event(FormPublished if status is FormStatus.published else FormUpdated, locked))
    return FormState.of(locked)


async def duplicate(ctx: Context, form: Form) -> Form:
    name = form.name[: _MAX_NAME_LENGTH - len(_COPY_SUFFIX)] + _COPY_SUFFIX
    copied = {field: getattr(form, field) for field in CONTENT_FIELDS if field != "name"}
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
    version = await ctx.db.find(FormVersion, form_id=form.id, version=int(number)) if is_number else None
    if version is None:
        raise FormVersionNotFound
    return version


async def delete(ctx: Context, form: Form) -> None:
    """Delete the form at once; its submissions and files are erased in the background."""
    locked = await lock_form(ctx, form.id)
    await ctx.db.delete(locked)
    ctx.defer(ERASE_FORM, FormToErase(locked.id))
    ctx.emit(_event(FormDeleted, locked))


@functools.cache
def _batch_statement(kind: type[R]) -> Statement[R]:
    table = kind.__table__
    return record_statement(
        kind, sa.select(table).where(table.c.form_id == sa.bindparam("form_id")).limit(ERASE_BATCH_SIZE)
    )


@functools.cache
def _erase_batch_statement(kind: type[TenantRecord]) -> Statement[Any]:
    table = kind.__table__
    some = sa.select(table.c.id).where(table.c.form_id == sa.bindparam("form_id")).limit(ERASE_BATCH_SIZE)
    return Statement(sa.delete(table).where(table.c.id.in_(some)))


async def erase_form(ctx: Context, payload: FormToErase) -> None:
    """Erase the form's records in small batches, to keep locks short."""
    while True:
        async with ctx.unit() as unit:
            uploads = await unit.db.rows(_batch_statement(FormUpload), form_id=payload.form_id)
            await file_uploads.remove_files(unit, [upload.id for upload in uploads])
        if len(uploads) < ERASE_BATCH_SIZE:
            break
    for kind in (Submission, Progress, FormConversation, FormDay, FormVersion):
        removed = ERASE_BATCH_SIZE
        while removed >= ERASE_BATCH_SIZE:
            async with ctx.unit() as unit:
                removed = await unit.db.execute(_erase_batch_statement(kind), form_id=payload.form_id)
    await search_index.erase_form_index(ctx, payload.form_id)


def _event(kind: type[FormEvent], form: Form) -> FormEvent:
    return kind(
        form_id=form.id, name=form.name, slug=form.slug, status=form.status.value, version=form.version
    )
