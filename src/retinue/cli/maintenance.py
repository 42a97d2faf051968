"""Commands that open the instance, do one thing and exit."""

import asyncio
from collections.abc import Awaitable, Callable

import typer

from retinue.auth.bootstrap import create_admin
from retinue.auth.password_change import PrintedLink, issue_reset_link
from retinue.cli.instance_folder import require_instance
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.durable_files import private_umask
from retinue.kit.events.audit_verification import ChainVerdict, verify_chain
from retinue.kit.logging import configure_logging
from retinue.kit.principal import SYSTEM
from retinue.kit.settings import Settings
from retinue.kit.vault import root_keys
from retinue.migrations.upgrade import head, upgrade
from retinue.tenants.models import Tenant
from retinue.wiring import DEFAULT_BASE_URL, close_instance, command_settings, open_instance

_COMMAND_LINE = Caller(correlation_id="cor_command_line")


def with_instance(
    settings: Settings, action: Callable[[Instance], Awaitable[bool]], *, may_migrate: bool = False
) -> None:
    """Run `action` on the opened instance; the process fails if it returns False."""
    configure_logging(settings)
    if not may_migrate:
        # Report an unusable key before anything else.
        root_keys(settings, may_create=False)
        require_instance(settings)

    async def run() -> bool:
        instance = await open_instance(command_settings(settings), may_migrate=may_migrate, is_command=True)
        try:
            return await action(instance)
        finally:
            await close_instance(instance)

    with private_umask():
        is_done = asyncio.run(run())
    if not is_done:
        raise typer.Exit(1)


def command_context(instance: Instance) -> Context:
    """Return a context that reads outside transactions, so as not to block a running server's writers."""
    return Context(instance, SYSTEM, _COMMAND_LINE, reads_outside_transaction=True)


def run_migrations(settings: Settings) -> None:
    with private_umask():
        changed = asyncio.run(upgrade(settings))
    typer.echo(f"{'migrated to' if changed else 'already at'} revision {head()}")


def run_create_admin(settings: Settings, email: str, password: str) -> None:
    async def action(instance: Instance) -> bool:
        await create_admin(instance, email, password)
        typer.echo(f"created super administrator {email}")
        return True

    with_instance(settings, action, may_migrate=True)


def run_reset_password(settings: Settings, email: str) -> None:
    """Print only the link to stdout, so that it can be piped; notes go to stderr."""

    async def action(instance: Instance) -> bool:
        async with Context(instance, SYSTEM, _COMMAND_LINE) as ctx:
            link = await issue_reset_link(ctx, email)
        typer.echo(link.url)
        typer.echo(_link_notes(link, has_address=bool(settings.base_url)), err=True)
        return True

    with_instance(settings, action)


def _link_notes(link: PrintedLink, *, has_address: bool) -> str:
    notes = [f"Open the link within one hour to choose a new password for {link.email}."]
    notes.append("It works once and ends every session of the account; earlier links are void.")
    if link.has_second_factor:
        notes.append("The second factor stays and is asked for at the next sign-in.")
    if not has_address:
        notes.append(
            f"RETINUE_BASE_URL is not set, so the link assumes {DEFAULT_BASE_URL}. If the server listens "
            "elsewhere, pass its address: --base-url http://127.0.0.1:9000"
        )
    return "\n".join(notes)


async def verify_audit_chains(ctx: Context) -> dict[str, ChainVerdict]:
    """Return the verdict on every tenant's chain, by tenant."""
    system = ctx.system("every tenant's chain")
    return {tenant.id: await verify_chain(system, tenant.id) for tenant in await system.all(Tenant)}


async def count_intact_audit_rows(instance: Instance, refusal: Callable[[str], Exception]) -> int:
    """Return how many rows all chains have; a chain that is not intact is the refusal's reason."""
    async with command_context(instance) as ctx:
        verdicts = await verify_audit_chains(ctx)
    for tenant_id, verdict in verdicts.items():
        if not verdict.is_good:
            raise refusal(f"the audit log of {tenant_id} is not intact: {verdict}")
    return sum(verdict.checked for verdict in verdicts.values())


def run_audit_verification(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        is_good = True
        async with command_context(instance) as ctx:
            for tenant_id, verdict in (await verify_audit_chains(ctx)).items():
                is_good = is_good and verdict.is_good
                typer.echo(f"{tenant_id} {verdict}")
        return is_good

    with_instance(settings, action)
