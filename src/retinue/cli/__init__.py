"""The `retinue` command."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from retinue import __version__
from retinue.cli.command_settings import read_settings
from retinue.cli.groups import admin, audit, models, vault
from retinue.kit.build_commit import build_commit
from retinue.kit.errors import CannotStart, RetinueError
from retinue.kit.machine import raise_descriptor_limit
from retinue.kit.setting_loader import load_settings
from retinue.kit.settings import BadSetting

app = typer.Typer(
    name="retinue",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(admin, name="admin")
app.add_typer(audit, name="audit")
app.add_typer(vault, name="vault")
app.add_typer(models, name="models")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        commit = build_commit()
        typer.echo(f"{__version__} ({commit})" if commit else __version__)
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print version and commit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Build and run AI agents on your own machines."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind; 0 picks a free one.", min=0, max=65535)] = 8080,
    processes: Annotated[
        str,
        typer.Option(
            help="Number of processes, or `auto` for one on each core; RETINUE_PROCESSES if left out."
        ),
    ] = "",
) -> None:
    """Start the API and, unless RETINUE_WORKER=off, a worker inside it."""
    settings = read_settings(**({"RETINUE_PROCESSES": processes} if processes else {}))
    raise_descriptor_limit()
    if settings.processes > 1:
        from retinue.cli.processes.supervised_server import run_supervisor

        run_supervisor(settings, host, port)
    else:
        from retinue.cli.processes.lone_server import run_server

        run_server(settings, host, port)


@app.command()
def reload(
    timeout: Annotated[int, typer.Option(help="Seconds to wait for the end of the reload.", min=1)] = 300,
) -> None:
    """Replace the processes of a running `serve` one by one, without a failed request or a cut reply.

    The new ones have the current code and settings. Exit code 0: all are replaced; 1: no such server runs on
    the data directory, or the old processes go on because the new ones did not start; 2: wrong use or
    settings.
    """
    from retinue.cli.processes.reload_command import run_reload

    run_reload(read_settings(), timeout)


@app.command()
def worker() -> None:
    """Run background jobs in a separate process."""
    from retinue.worker import run_worker

    settings = read_settings()
    raise_descriptor_limit()
    run_worker(settings)


@app.command()
def migrate() -> None:
    """Migrate the database to the current schema."""
    from retinue.cli.maintenance import run_migrations

    run_migrations(read_settings())


_PassphraseFile = Annotated[
    Path | None, typer.Option(help="A file whose first line is the passphrase that seals the backup.")
]


@app.command()
def backup(
    arguments: Annotated[
        list[str],
        typer.Argument(metavar="[verify] FILE", help="The file to write; after `verify`, the one to read."),
    ],
    passphrase_file: _PassphraseFile = None,
    keep: Annotated[
        int, typer.Option(help="Remove older backups beside it, but keep this many; 0 keeps all.", min=0)
    ] = 0,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Verify a file that the master key at hand did not sign.")
    ] = False,
) -> None:
    """Write the database and the files into one file while the server runs, or verify such a file.

    Exit code 0: the backup is whole and was read back; 1: it could not be made; 2: wrong use or settings;
    3: the file to verify is cut, changed, unsigned, foreign, or sealed with another passphrase.
    """
    from retinue.cli.backups.commands import run_backup, run_backup_verification

    match arguments:
        case ["verify", file]:
            run_backup_verification(read_settings(), Path(file), passphrase_file, is_unsigned=unsigned)
        case [file] if file != "verify" and not unsigned:
            run_backup(read_settings(), Path(file), passphrase_file, keep)
        case _:
            raise BadSetting(
                "name one file: retinue backup FILE, or retinue backup verify FILE; --unsigned is for verify"
            )


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file written by `retinue backup`.")],
    data_dir: Annotated[
        Path | None, typer.Option(help="The empty folder to restore into; defaults to RETINUE_DATA_DIR.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Restore into a temporary place, check it, and remove it.")
    ] = False,
    without_key: Annotated[
        bool,
        typer.Option(
            "--without-key", help="Compare nothing with the master key and leave the secrets sealed."
        ),
    ] = False,
    unsigned: Annotated[
        bool,
        typer.Option("--unsigned", help="Dangerous: restore what the master key at hand did not sign."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask about --unsigned.")] = False,
    passphrase_file: _PassphraseFile = None,
) -> None:
    """Restore a backup into an empty folder, and with PostgreSQL into an empty database.

    Exit code 0: restored and checked; 1: the place is not empty, full or not allowed; 2: wrong use or
    settings; 3: the backup is cut, changed, unsigned, foreign, of a newer version, or of another master key.
    """
    from retinue.cli.backups.commands import run_restore

    run_restore(
        read_settings(),
        file,
        data_dir,
        passphrase_file,
        is_agreed=yes,
        is_check=check,
        is_without_key=without_key,
        is_unsigned=unsigned,
    )


@app.command()
def upgrade(
    backup: Annotated[
        Path | None, typer.Option(help="Where to write a backup first, as `retinue backup` does.")
    ] = None,
    passphrase_file: _PassphraseFile = None,
    without_backup: Annotated[
        bool, typer.Option("--without-backup", help="Migrate although there is no way back.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether the database needs a migration.")
    ] = False,
) -> None:
    """Back up the database, migrate it to this version, and check the result.

    Exit code 0: the database fits this version; 1: something failed; 2: wrong use or settings; 3: `--check`
    found that a migration is due.
    """
    from retinue.cli.upgrade_command import run_upgrade

    run_upgrade(read_settings(), backup, passphrase_file, is_check=check, is_unsafe=without_backup)


@app.command()
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    probe: Annotated[
        bool, typer.Option("--probe", help="Only ask the running server whether it is ready.")
    ] = False,
    url: Annotated[
        str,
        typer.Option(help="The address that --probe asks; http://127.0.0.1:8080/health/ready if left out."),
    ] = "",
) -> None:
    """Check the settings, the machine, the database, the keys and the services; secrets are never printed.

    Exit code 0: all is well; 1: there are warnings; 2: something fails.
    """
    from retinue.cli.doctor.commands import report_bad_setting, run_doctor, run_probe

    try:
        settings, warnings = load_settings(os.environ, Path(".env"))
        if probe:
            run_probe(settings, url, is_json=json)
        else:
            run_doctor(settings, warnings, is_json=json)
    except BadSetting as error:
        report_bad_setting(error, is_json=json)


@app.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from retinue.app import openapi_document

    sys.stdout.buffer.write(openapi_document())


_Tenant = Annotated[str, typer.Option(help="Id or name of the tenant; required if there are several.")]


_Remote = Annotated[
    str,
    typer.Option(
        help="Address of a server. Signs in with RETINUE_CLIENT_ID and RETINUE_CLIENT_SECRET, in the tenant "
        "of that service account."
    ),
]
_File = Annotated[Path, typer.Argument(help="A file written by `retinue export`.")]
_Prune = Annotated[
    bool,
    typer.Option("--prune/--no-prune", help="Delete objects that a section of the file does not name."),
]


@app.command("export")
def export_tenant(
    tenant: _Tenant = "",
    output: Annotated[Path | None, typer.Option(help="The file to write; printed if left out.")] = None,
    format: Annotated[str, typer.Option(help="yaml or json.")] = "yaml",
    sections: Annotated[str, typer.Option(help="Sections to write, separated by commas; default: all.")] = "",
    remote: _Remote = "",
) -> None:
    """Write the configuration of a tenant to one file, without secrets.

    The sections are data tables, tools, agents, workflows, forms, notification channels, webhooks,
    incoming webhooks, subscriptions, budgets, trace exporters and agent documents (by name and sum).
    """
    from retinue.cli.tenant_file_commands import run_export

    run_export(read_settings(), tenant, output, format, sections, remote)


@app.command("plan")
def plan_tenant(file: _File, tenant: _Tenant = "", prune: _Prune = True, remote: _Remote = "") -> None:
    """Show what `retinue apply` would change; nothing is changed.

    Exit code 0: the tenant is as the file says; 1: the file cannot be applied; 2: there are changes, or wrong
    use.
    """
    from retinue.cli.tenant_file_commands import run_plan

    try:
        run_plan(read_settings(), tenant, file, prune=prune, remote=remote)
    except BadSetting as error:
        # Not 2, which says that the tenant differs.
        raise CannotStart(str(error)) from error


@app.command("apply")
def apply_tenant(
    file: _File,
    tenant: _Tenant = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Apply the changes instead of only showing them.")
    ] = False,
    prune: _Prune = True,
    remote: _Remote = "",
) -> None:
    """Change the tenant to match the file, in one transaction."""
    from retinue.cli.tenant_file_commands import run_apply

    run_apply(read_settings(), tenant, file, is_agreed=yes, prune=prune, remote=remote)


def main() -> None:
    """Run the command; known failures are printed as one line without a traceback."""
    try:
        app()
    except BadSetting as error:
        _exit_with_error(error, 2)
    except (CannotStart, RetinueError) as error:
        _exit_with_error(error, getattr(error, "exit_code", 1))


def _exit_with_error(error: Exception, code: int) -> None:
    typer.echo(f"retinue: {error}", err=True)
    sys.exit(code)
