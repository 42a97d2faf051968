"""`retinue export` and `retinue apply`."""

import sys
from pathlib import Path

import typer

from retinue.access.catalogue import KEYS
from retinue.cli.maintenance import with_instance
from retinue.cli.tenant_file import document as documents
from retinue.cli.tenant_file.applying import apply
from retinue.cli.tenant_file.exporting import export
from retinue.cli.tenant_file.planning import Step, plan
from retinue.cli.tenant_file.references import Names
from retinue.kit.context import Caller, Context
from retinue.kit.errors import Invalid
from retinue.kit.instance import Instance
from retinue.kit.principal import SYSTEM, Principal
from retinue.kit.settings import Settings
from retinue.tenants.models import Tenant

# A file may come from anywhere, so it moves no secret to another address: that needs who may read secrets.
_PERMISSIONS = frozenset(KEYS) - {"credentials:reveal", "notification_channels:reveal"}


def run_export(settings: Settings, tenant: str, output: Path | None, format: str) -> None:
    if format not in {"yaml", "json"}:
        raise typer.BadParameter("--format is yaml or json")
    made: list[str] = []

    async def action(instance: Instance) -> bool:
        async with await _context(instance, tenant, reads_freely=True) as ctx:
            made.append(documents.written(await export(ctx, await Names.read(ctx)), format))
        return True

    with_instance(settings, action)
    if output is None:
        sys.stdout.write("".join(made))
    else:
        output.write_text("".join(made))


def run_apply(settings: Settings, tenant: str, file: Path, *, is_agreed: bool) -> None:
    text = file.read_text()

    async def action(instance: Instance) -> bool:
        try:
            wanted = documents.read(text)
            async with await _context(instance, tenant, reads_freely=not is_agreed) as ctx:
                if is_agreed:
                    await ctx.unit_of_work.begin()
                names = await Names.read(ctx)
                steps = plan(await export(ctx, names), wanted)
                _show(steps)
                if is_agreed:
                    await apply(ctx, names, steps)
        except Invalid as error:
            for path, problem in (error.details or {}).items():
                typer.echo(f"retinue: {path}: {problem}", err=True)
            typer.echo("retinue: nothing was changed", err=True)
            return False
        if steps:
            typer.echo("Done." if is_agreed else "Nothing was changed yet; do it with --yes.")
        _remind(steps)
        return True

    with_instance(settings, action)


def _show(steps: list[Step]) -> None:
    for step in steps:
        for line in step.lines():
            typer.echo(line)
    count = {
        action: sum(step.action == action for step in steps) for action in ("create", "change", "delete")
    }
    typer.echo(", ".join(f"{number} to {action}" for action, number in count.items()))


def _remind(steps: list[Step]) -> None:
    """Secrets are not in a file, so a tool that is new here has none."""
    for step in steps:
        if step.action == "create" and step.section == "tools" and step.part.own_secrets:
            typer.echo(f"The tool {step.name} has secrets of its own, which are to be entered here.")


async def _context(instance: Instance, wanted: str, *, reads_freely: bool) -> Context:
    """Whoever runs the command acts as the instance in one tenant."""
    caller = Caller(correlation_id="cor_command_line")
    async with Context(instance, SYSTEM, caller, reads_freely=True) as looking:
        tenants = await looking.system("a tenant is named on the command line").all(Tenant)
    found = [one for one in tenants if not wanted or wanted in {one.id, one.name}]
    if len(found) != 1:
        known = ", ".join(f"{one.id} ({one.name})" for one in tenants)
        raise typer.BadParameter(f"say with --tenant which one is meant: {known}")
    principal = Principal(kind="system", role="system", tenant_id=found[0].id, permissions=_PERMISSIONS)
    return Context(instance, principal, caller, reads_freely=reads_freely)
