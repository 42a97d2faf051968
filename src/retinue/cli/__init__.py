"""The `retinue` command."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from retinue import __version__
from retinue.kit.errors import CannotStart, RetinueError
from retinue.kit.settings import BadSetting, Settings, load

app = typer.Typer(
    name="retinue",
    help="Build and run AI agents on your own machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
admin = typer.Typer(help="Administrators.", no_args_is_help=True)
audit = typer.Typer(help="The audit trail.", no_args_is_help=True)
vault = typer.Typer(help="Keys at rest.", no_args_is_help=True)
models = typer.Typer(help="The embedded models.", no_args_is_help=True)
app.add_typer(admin, name="admin")
app.add_typer(audit, name="audit")
app.add_typer(vault, name="vault")
app.add_typer(models, name="models")


def read_settings() -> Settings:
    """The settings of this process; a bad one ends it here, before anything is opened."""
    settings, warnings = load(os.environ, Path(".env"))
    for warning in warnings:
        typer.echo(f"retinue: {warning}", err=True)
    return settings


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind; 0 takes a free one.", min=0, max=65535)] = 8080,
) -> None:
    """Start the API and, unless RETINUE_WORKER=off, a worker inside it."""
    from retinue.cli.serving import run_server

    run_server(read_settings(), host, port)


@app.command()
def worker() -> None:
    """Run background jobs in a process of their own."""
    from retinue.worker import run_worker

    run_worker(read_settings())


@app.command()
def migrate() -> None:
    """Bring the database to the current schema."""
    from retinue.cli.maintenance import run_migrations

    run_migrations(read_settings())


@app.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from retinue.app import openapi_document

    sys.stdout.buffer.write(openapi_document())


_Tenant = Annotated[str, typer.Option(help="Id or name of the tenant; needed where there are several.")]


@app.command("export")
def export_tenant(
    tenant: _Tenant = "",
    output: Annotated[Path | None, typer.Option(help="The file to write; else it is printed.")] = None,
    format: Annotated[str, typer.Option(help="yaml or json.")] = "yaml",
) -> None:
    """Write agents, tools, data tables and workflows as one file, without secrets."""
    from retinue.cli.tenant_file.commands import run_export

    run_export(read_settings(), tenant, output, format)


@app.command("apply")
def apply_tenant(
    file: Annotated[Path, typer.Argument(help="What `retinue export` wrote.", exists=True, dir_okay=False)],
    tenant: _Tenant = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; else it is only shown.")] = False,
) -> None:
    """Make the tenant what the file says, in one transaction."""
    from retinue.cli.tenant_file.commands import run_apply

    run_apply(read_settings(), tenant, file, is_agreed=yes)


@admin.command("create")
def create_admin(
    email: Annotated[str, typer.Argument(help="Address of the new super administrator.")],
    password: Annotated[
        str,
        typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Asked for when left out."),
    ],
) -> None:
    """Create a super administrator in the default tenant."""
    from retinue.cli.maintenance import run_create_admin

    run_create_admin(read_settings(), email, password)


@audit.command("verify")
def verify_audit() -> None:
    """Check every tenant's audit chain; names the first bad row."""
    from retinue.cli.maintenance import run_audit_verification

    run_audit_verification(read_settings())


@vault.command("rotate-key")
def rotate_key() -> None:
    """Make a new key the active one and re-wrap every secret under it, while the server runs."""
    from retinue.cli.vaulting import run_rotate_key

    run_rotate_key(read_settings())


@vault.command("rotate-root")
def rotate_root(
    new_key: Annotated[
        str, typer.Option(help="The new master key, 32 bytes base64; a fresh one is made when left out.")
    ] = "",
) -> None:
    """Wrap the key ring with another master key."""
    from retinue.cli.vaulting import run_rotate_root

    run_rotate_root(read_settings(), new_key)


@vault.command("rotate-signing-key")
def rotate_signing_key() -> None:
    """Sign new access tokens with a new key; tokens of the old one stay good until they expire."""
    from retinue.cli.vaulting import run_rotate_signing_key

    run_rotate_signing_key(read_settings())


@vault.command("status")
def vault_status() -> None:
    """Show the key versions and how many secrets each one holds."""
    from retinue.cli.vaulting import run_status

    run_status(read_settings())


@models.command("pull")
def pull_models() -> None:
    """Fetch the weights of the embedded models that are not here yet."""
    from retinue.cli.modelling import run_pull

    run_pull(read_settings())


@models.command("list")
def list_models() -> None:
    """Show the embedded models, their licences, and whether their weights are here."""
    from retinue.cli.modelling import run_list

    run_list(read_settings())


def main() -> None:
    """Run the command; what stops it for a known reason is told in one line, not in a traceback."""
    try:
        app()
    except BadSetting as error:
        _give_up(error, 2)
    except (CannotStart, RetinueError) as error:
        _give_up(error, 1)


def _give_up(error: Exception, code: int) -> None:
    typer.echo(f"retinue: {error}", err=True)
    sys.exit(code)
