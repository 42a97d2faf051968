"""`retinue export`, `retinue plan` and `retinue apply`, on this machine's database or on a remote server."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import typer

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.cli.maintenance import with_instance
from retinue.cli.remote_tenant import RemoteTenant
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.errors import CannotStart, Forbidden, Invalid, RetinueError
from retinue.kit.principal import SYSTEM, Principal
from retinue.kit.settings import Settings
from retinue.tenant_file import service
from retinue.tenant_file.document import render_document
from retinue.tenant_file.exporter import export, read_names
from retinue.tenant_file.schemas import PlannedObject, PlanRequest, TenantPlan
from retinue.tenants.models import Tenant

CHANGES_FOUND = 2
"""The exit code of `plan` if the tenant differs from the file."""

_MAX_VALUE_LENGTH = 60
_MARKS = {"create": "+", "update": "~", "delete": "-"}
_VERBS = {"create": "create", "update": "change", "delete": "delete"}


def run_export(
    settings: Settings, tenant: str, output: Path | None, format: str, sections: str, remote: str
) -> None:
    if format not in {"yaml", "json"}:
        raise typer.BadParameter("--format must be yaml or json")
    if remote:
        text = RemoteTenant(settings, remote).export(format, sections)
    else:
        text = _export_here(settings, tenant, format, sections)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text)


def _export_here(settings: Settings, tenant: str, format: str, sections: str) -> str:
    rendered: list[str] = []
    wanted = service.read_sections(sections)

    async def action(instance: Instance) -> bool:
        async with await _context(instance, tenant) as ctx:
            rendered.append(render_document(await export(ctx, await read_names(ctx), wanted), format))
        return True

    with_instance(settings, action)
    return "".join(rendered)


def run_plan(settings: Settings, tenant: str, file: Path, *, prune: bool, remote: str) -> None:
    """Print what an apply would change; the exit code says whether that is anything."""
    request = PlanRequest(document=_read_document(file), prune=prune)
    plan = _run(settings, tenant, request, remote, is_agreed=False)
    if any(change.action != "unchanged" for change in plan.changes):
        raise typer.Exit(CHANGES_FOUND)


def run_apply(
    settings: Settings, tenant: str, file: Path, *, is_agreed: bool, prune: bool, remote: str
) -> None:
    request = PlanRequest(document=_read_document(file), prune=prune)
    plan = _run(settings, tenant, request, remote, is_agreed=is_agreed)
    if any(change.action != "unchanged" for change in plan.changes):
        typer.echo("Done." if is_agreed else "Nothing was changed yet. Apply it with --yes.")
    for warning in plan.warnings:
        typer.echo(warning)


def _read_document(file: Path) -> str:
    # Not left to the argument's own check: its exit code would say that the tenant differs.
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not text in UTF-8"
        raise CannotStart(f"{file}: {reason}") from error


def _run(
    settings: Settings, tenant: str, request: PlanRequest, remote: str, *, is_agreed: bool
) -> TenantPlan:
    if remote:
        server = RemoteTenant(settings, remote)
        return _with_problems(lambda: server.plan(request, _print_changes, is_agreed=is_agreed))
    plans: list[TenantPlan] = []

    async def action(instance: Instance) -> bool:
        try:
            plans.append(await _plan_here(instance, tenant, request, is_agreed=is_agreed))
        except (Invalid, Forbidden) as error:
            _print_problems(error)
        return bool(plans)

    with_instance(settings, action)
    return plans[0]


async def _plan_here(instance: Instance, tenant: str, request: PlanRequest, *, is_agreed: bool) -> TenantPlan:
    ctx = await _context(instance, tenant)
    plan = await service.plan(ctx, request)
    _print_changes(plan.changes)
    if is_agreed:
        async with ctx.unit() as unit:
            await service.apply(unit, request, plan.plan_hash)
    return plan


def _with_problems(call: Callable[[], TenantPlan]) -> TenantPlan:
    try:
        return call()
    except (Invalid, Forbidden) as error:
        _print_problems(error)
        raise typer.Exit(1) from None


def _print_problems(error: RetinueError) -> None:
    if isinstance(error, Invalid):
        for path, problem in (error.details or {}).items():
            typer.echo(f"retinue: {path}: {problem}", err=True)
    else:
        typer.echo(f"retinue: {error.message} {_named(error)}".rstrip(), err=True)
    typer.echo("retinue: nothing was changed", err=True)


def _named(error: RetinueError) -> str:
    required = (error.details or {}).get("required", "")
    return f"(missing permission: {required})" if required and required not in error.message else ""


def _print_changes(changes: Sequence[PlannedObject]) -> None:
    for change in changes:
        if change.action == "unchanged":
            continue
        typer.echo(f"{_MARKS[change.action]} {change.section}/{change.name}")
        for field in change.diff:
            typer.echo(f"    {field.path}: {_format_value(field.from_)} -> {_format_value(field.to)}")
    counts = {action: sum(change.action == action for change in changes) for action in _VERBS}
    typer.echo(", ".join(f"{number} to {_VERBS[action]}" for action, number in counts.items()))


def _format_value(value: object) -> str:
    if value is msgspec.UNSET:
        return "(default)"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"


async def _context(instance: Instance, tenant_name: str) -> Context:
    """Return a context that acts as the instance in one tenant, and reads outside transactions."""
    caller = Caller(correlation_id="cor_command_line")
    async with Context(instance, SYSTEM, caller, reads_outside_transaction=True) as lookup:
        tenants = await lookup.system("a tenant is named on the command line").all(Tenant)
    matching = [tenant for tenant in tenants if not tenant_name or tenant_name in {tenant.id, tenant.name}]
    if len(matching) != 1:
        choices = ", ".join(f"{tenant.id} ({tenant.name})" for tenant in tenants)
        raise typer.BadParameter(f"choose one with --tenant: {choices}")
    principal = Principal(
        kind="system", role="system", tenant_id=matching[0].id, permissions=frozenset(PERMISSION_KEYS)
    )
    return Context(instance, service.without_reveal(principal), caller, reads_outside_transaction=True)
