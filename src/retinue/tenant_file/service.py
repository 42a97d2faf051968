"""Export, plan and apply. A plan is an apply that is rolled back, so both fail alike (ADR 34)."""

import asyncio
from collections.abc import Iterator

import msgspec

from retinue.adapters.openapi import read_text
from retinue.agents.queries import lock_agent_graph
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, Invalid
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.json_types import JsonObject
from retinue.kit.principal import Principal
from retinue.tenant_file.applier import apply_changes
from retinue.tenant_file.destination_warnings import destination_warnings
from retinue.tenant_file.document import SECTION_NAMES, TenantDocument, read_document, render_document
from retinue.tenant_file.errors import PlanStale
from retinue.tenant_file.events import TenantExported, TenantFileApplied
from retinue.tenant_file.exporter import export, read_names
from retinue.tenant_file.missing_references import require_references
from retinue.tenant_file.parts import leaves, to_plain
from retinue.tenant_file.planner import PlannedChange, hash_plan, plan_changes, settle_changes
from retinue.tenant_file.references import READ_KEYS, ReferenceIndex
from retinue.tenant_file.schemas import (
    ExportQuery,
    FieldChange,
    PlannedObject,
    PlanRequest,
    TenantApplied,
    TenantPlan,
)
from retinue.tenant_file.sections import SECTIONS

_MAX_WRITTEN_OUT = 16 * 1024 * 1024
"""Characters of a file whose YAML aliases are written out."""
_REVEALS = frozenset({"credentials:reveal", "notification_channels:reveal"})


class PreparedPlan(msgspec.Struct, frozen=True, kw_only=True):
    names: ReferenceIndex
    current: TenantDocument
    changes: list[PlannedChange]
    plan_hash: str
    destination_warnings: list[str] = []

    @property
    def warnings(self) -> list[str]:
        """Return points to check, and steps after the apply: a file contains no secrets."""
        entered = [
            f"{change.location}: enter {SECTIONS[change.section].secrets_note} in this tenant."
            for change in self.changes
            if change.action == "create" and getattr(change.part, "own_secrets", False)
        ]
        return [*self._namesake_warnings(), *entered, *self.destination_warnings]

    def _namesake_warnings(self) -> list[str]:
        """Say where a name of the file stands for the oldest of several objects that are not all in it."""
        return [
            f"{change.location} is ambiguous: {count} objects have this name. The oldest one is meant; an "
            f"export shows the names of the others."
            for change in self.changes
            if change.action in {"update", "unchanged"}
            and (count := self.names.namesakes(change.location))
            and f"{change.location} #2" not in {other.location for other in self.changes if other.part}
            and " #" not in change.name
        ]

    def count(self, *actions: str) -> int:
        return sum(change.action in actions for change in self.changes)


def without_reveal(principal: Principal) -> Principal:
    """Return the principal as one who applies a file: anybody may have written it, so no secret moves."""
    return msgspec.structs.replace(
        principal, permissions=principal.permissions - _REVEALS, may_move_secrets=False
    )


async def read_file(document: str | JsonObject, requester: QueuedCaller = NOBODY) -> TenantDocument:
    """Return the document from text in JSON or YAML, or from what such a text contains."""
    if isinstance(document, str):
        document = await read_text(document.encode(), requester, max_length=_MAX_WRITTEN_OUT)
    # In a thread, because the errors of a large document take a while to collect.
    return await asyncio.to_thread(read_document, document)


def read_sections(text: str) -> list[str]:
    """Return the names of sections from a list separated by commas; all if it is empty."""
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if not set(wanted) <= set(SECTION_NAMES):
        raise Invalid({"sections": f"must be some of {', '.join(SECTION_NAMES)}"})
    return wanted or list(SECTION_NAMES)


async def export_file(ctx: Context, query: ExportQuery) -> str:
    """Return the file as text; that it was exported is recorded."""
    document = await export(ctx, await read_names(ctx), read_sections(query.sections))
    ctx.emit(TenantExported(format=query.format, sections=document.included()))
    # In a thread, because rendering much YAML takes seconds.
    return await asyncio.to_thread(render_document, document, query.format)


async def prepare(ctx: Context, document: TenantDocument, *, prune: bool) -> PreparedPlan:
    """Compare the document with the tenant; raise if the caller may not read and write its sections."""
    _require_permissions(ctx, document)
    names = await read_names(ctx)
    current = await export(ctx, names, document.included())
    changes = plan_changes(current, document, prune=prune)
    for change in changes:
        if change.action == "delete":
            _require(ctx, change.section, SECTIONS[change.section].key_to_delete)
    require_references(names, changes)
    _require_kept(names, changes)
    ids = dict(sorted(_referred_ids(names, document)))
    return PreparedPlan(
        names=names,
        current=current,
        changes=changes,
        plan_hash=hash_plan(current, document, ids, prune=prune),
    )


def _require_permissions(ctx: Context, document: TenantDocument) -> None:
    """Raise Forbidden with every section that needs a permission which the caller lacks."""
    missing = [
        (section, permission)
        for section in document.included()
        for permission in (READ_KEYS[section], SECTIONS[section].write_key)
        if not ctx.principal.may(permission)
    ]
    if len(missing) == 1:
        _require(ctx, *missing[0])
    if missing:
        needed = ", ".join(f"{permission} for {section}" for section, permission in missing)
        raise Forbidden(
            missing[0][1],
            ctx.principal.role or ctx.principal.kind,
            message=f"The file needs permissions that you do not have: {needed}.",
        )


def _require(ctx: Context, section: str, permission: str) -> None:
    if not ctx.principal.may(permission):
        raise Forbidden(
            permission,
            ctx.principal.role or ctx.principal.kind,
            message=f"The section {section} needs the permission {permission}.",
        )


def _referred_ids(names: ReferenceIndex, document: TenantDocument) -> Iterator[tuple[str, str]]:
    """Yield the records that the document changes or names, each with its id."""
    for section in document.included():
        for key, record in names.records[section].items():
            yield f"@{section}/{key}", record.id
    for _, text in leaves(to_plain(document)):
        record = names.get(text)
        if record is not None:
            yield str(text), record.id


def _require_kept(names: ReferenceIndex, changes: list[PlannedChange]) -> None:
    """Raise Invalid if the file names an object that it deletes: the reference would lead nowhere."""
    deleted = {names.records[each.section][each.name].id for each in changes if each.action == "delete"}
    if not deleted:
        return
    for change in changes:
        for path, text in leaves(to_plain(change.part)):
            record = names.get(text)
            if record is not None and record.id in deleted:
                raise Invalid(
                    {f"{change.location}: {path}": f"{text} is not in the file and would be deleted"}
                )


async def plan(ctx: Context, request: PlanRequest) -> TenantPlan:
    """Return what an apply would change, or raise what it would raise; nothing is stored."""
    document = await read_file(request.document, ctx.requester)
    prepared = await rehearse(ctx, document, prune=request.prune)
    return TenantPlan(
        changes=_render_plan(prepared), warnings=prepared.warnings, plan_hash=prepared.plan_hash
    )


async def rehearse(ctx: Context, document: TenantDocument, *, prune: bool) -> PreparedPlan:
    async with ctx.unit(is_side_effect=False) as unit:
        prepared = await change_tenant(unit, document, prune=prune)
        await unit.rehearse()
    return prepared


async def apply(ctx: Context, request: PlanRequest, plan_hash: str) -> TenantApplied:
    document = await read_file(request.document, ctx.requester)
    prepared = await change_tenant(ctx, document, prune=request.prune, plan_hash=plan_hash)
    return TenantApplied(
        applied=prepared.count("create", "update", "delete"),
        changes=_render_plan(prepared),
        warnings=prepared.warnings,
    )


async def change_tenant(
    ctx: Context, document: TenantDocument, *, prune: bool, plan_hash: str | None = None
) -> PreparedPlan:
    """Change the tenant within the transaction of `ctx`; with `plan_hash`, only if the plan still holds."""
    ctx.principal = without_reveal(ctx.principal)
    # One file after the other; it also keeps the agents' graph, of which several are locked.
    await lock_agent_graph(ctx)
    prepared = await prepare(ctx, document, prune=prune)
    if plan_hash not in {None, prepared.plan_hash}:
        raise PlanStale
    await apply_changes(ctx, prepared.names, prepared.changes)
    if prepared.count("update"):
        result = await export(ctx, await read_names(ctx), document.included())
        settled = settle_changes(prepared.changes, prepared.current, result)
        prepared = msgspec.structs.replace(prepared, changes=settled)
    warnings = await destination_warnings(ctx, prepared.names, prepared.changes)
    prepared = msgspec.structs.replace(prepared, destination_warnings=warnings)
    ctx.emit(
        TenantFileApplied(
            created=prepared.count("create"),
            updated=prepared.count("update"),
            deleted=prepared.count("delete"),
            sections=document.included(),
            plan_hash=prepared.plan_hash,
        )
    )
    return prepared


def _render_plan(prepared: PreparedPlan) -> list[PlannedObject]:
    return [
        PlannedObject(
            section=change.section,
            name=change.name,
            action=change.action,
            diff=[FieldChange(path=path, from_=before, to=after) for path, before, after in change.changed],
        )
        for change in prepared.changes
    ]
