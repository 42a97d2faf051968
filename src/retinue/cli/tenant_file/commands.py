"""`retinue export` and `retinue apply`."""

import sys
from pathlib import Path

import typer

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.cli.maintenance import with_instance
from retinue.cli.tenant_file import document as documents
from retinue.cli.tenant_file.applier import apply
from retinue.cli.tenant_file.exporter import export
from retinue.cli.tenant_file.planner import PlannedChange, plan_changes
from retinue.cli.tenant_file.references import ReferenceIndex
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.errors import Invalid
from retinue.kit.principal import SYSTEM, Principal
from retinue.kit.settings import Settings
from retinue.tenants.models import Tenant

# A file may come from anywhere, so applying one cannot move a secret to another address.
_PERMISSIONS = frozenset(PERMISSION_KEYS) - {"credentials:reveal", "notification_channels:reveal"}


def run_export(settings: Settings, tenant: str, output: Path | None, format: str) -> None:
    if format not in {"yaml", "json"}:
        raise typer.BadParameter("--format must be yaml or json")
    rendered: list[str] = []

    async def action(instance: Instance) -> bool:
        async with await _context(instance, tenant, reads_outside_transaction=True) as ctx:
            rendered.append(
                documents.render_document(await export(ctx, await ReferenceIndex.read(ctx)), format)
            )
        return True

    with_instance(settings, action)
    if output is None:
        sys.stdout.write("".join(rendered))
    else:
        output.write_text("".join(rendered))


def run_apply(settings: Settings, tenant: str, file: Path, *, is_agreed: bool) -> None:
    text = file.read_text()

    async def action(instance: Instance) -> bool:
        try:
            wanted = documents.read(text)
            async with await _context(instance, tenant, reads_outside_transaction=not is_agreed) as ctx:
                if is_agreed:
                    await ctx.unit_of_work.begin()
                names = await ReferenceIndex.read(ctx)
                steps = plan_changes(await export(ctx, names), wanted)
                _print_changes(steps)
                if is_agreed:
                    await apply(ctx, names, steps)
        except Invalid as error:
            for path, problem in (error.details or {}).items():
                typer.echo(f"retinue: {path}: {problem}", err=True)
            typer.echo("retinue: nothing was changed", err=True)
            return False
        if steps:
            typer.echo("Done." if is_agreed else "Nothing was changed yet. Apply it with --yes.")
        _print_secret_reminders(steps)
        return True

    with_instance(settings, action)


def _print_changes(steps: list[PlannedChange]) -> None:
    for step in steps:
        for line in step.lines():
            typer.echo(line)
    count = {
        action: sum(step.action == action for step in steps) for action in ("create", "change", "delete")
    }
    typer.echo(", ".join(f"{number} to {action}" for action, number in count.items()))


def _print_secret_reminders(steps: list[PlannedChange]) -> None:
    """Remind of secrets to enter: a file contains none, so a new tool has none."""
    for step in steps:
        if step.action == "create" and step.section == "tools" and step.part.own_secrets:
            typer.echo(f"The tool {step.name} has its own secrets. Enter them in this tenant.")


async def _context(instance: Instance, wanted: str, *, reads_outside_transaction: bool) -> Context:
    """Return a context that acts as the instance in one tenant."""
    caller = Caller(correlation_id="cor_command_line")
    async with Context(instance, SYSTEM, caller, reads_outside_transaction=True) as lookup:
        tenants = await lookup.system("a tenant is named on the command line").all(Tenant)
    matching = [tenant for tenant in tenants if not wanted or wanted in {tenant.id, tenant.name}]
    if len(matching) != 1:
        choices = ", ".join(f"{tenant.id} ({tenant.name})" for tenant in tenants)
        raise typer.BadParameter(f"choose one with --tenant: {choices}")
    principal = Principal(kind="system", role="system", tenant_id=matching[0].id, permissions=_PERMISSIONS)
    return Context(instance, principal, caller, reads_outside_transaction=reads_outside_transaction)
