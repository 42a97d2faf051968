"""Commands that open the instance, do one thing and leave."""

import asyncio
from collections.abc import Awaitable, Callable

import typer

from retinue.auth.bootstrap import create_admin
from retinue.kit.context import Caller, Context
from retinue.kit.db.engine import database_for
from retinue.kit.events.verify import verify_chain
from retinue.kit.instance import Instance
from retinue.kit.logging import configure
from retinue.kit.principal import SYSTEM
from retinue.kit.settings import Settings
from retinue.migrations.upgrade import head, upgrade
from retinue.tenants.models import Tenant
from retinue.wiring import close_instance, open_instance, with_base_url


def with_instance(
    settings: Settings, action: Callable[[Instance], Awaitable[bool]], *, may_migrate: bool = False
) -> None:
    """Run `action` on the opened instance; the process fails when it says no."""
    configure(settings)

    async def run() -> bool:
        instance = await open_instance(with_base_url(settings, "127.0.0.1", 8080), may_migrate=may_migrate)
        try:
            return await action(instance)
        finally:
            await close_instance(instance)

    if not asyncio.run(run()):
        raise typer.Exit(1)


def command_context(instance: Instance) -> Context:
    """Reads freely: a look at everything must not hold up the writers of a running server."""
    return Context(instance, SYSTEM, Caller(correlation_id="cor_command_line"), reads_freely=True)


def run_migrations(settings: Settings) -> None:
    async def run() -> bool:
        database = database_for(settings)
        await database.open()
        try:
            return await upgrade(settings, database)
        finally:
            await database.close()

    changed = asyncio.run(run())
    typer.echo(f"{'migrated to' if changed else 'already at'} revision {head()}")


def run_create_admin(settings: Settings, email: str, password: str) -> None:
    async def action(instance: Instance) -> bool:
        await create_admin(instance, email, password)
        typer.echo(f"created super administrator {email}")
        return True

    with_instance(settings, action, may_migrate=True)


def run_audit_verification(settings: Settings) -> None:
    async def action(instance: Instance) -> bool:
        is_good = True
        async with command_context(instance) as ctx:
            system = ctx.system("every tenant's chain")
            for tenant in await system.all(Tenant):
                verdict = await verify_chain(system, tenant.id)
                is_good = is_good and verdict.is_good
                typer.echo(f"{tenant.id} {verdict}")
        return is_good

    with_instance(settings, action)
