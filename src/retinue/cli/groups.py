"""The commands in groups: `retinue admin`, `audit`, `vault` and `models`."""

from pathlib import Path
from typing import Annotated

import typer

from retinue.cli.command_settings import read_settings

admin = typer.Typer(help="Administrators.", no_args_is_help=True)
audit = typer.Typer(help="The audit trail.", no_args_is_help=True)
vault = typer.Typer(help="Keys at rest.", no_args_is_help=True)
models = typer.Typer(help="The embedded models, and what models cost.", no_args_is_help=True)
prices = typer.Typer(help="The list prices of models.", no_args_is_help=True)
models.add_typer(prices, name="prices")


@admin.command("create")
def create_admin(
    email: Annotated[str, typer.Argument(help="Address of the new super administrator.")],
    password: Annotated[
        str,
        typer.Option(
            prompt=True, hide_input=True, confirmation_prompt=True, help="Prompted for if left out."
        ),
    ],
) -> None:
    """Create a super administrator in the default tenant."""
    from retinue.cli.maintenance import run_create_admin

    run_create_admin(read_settings(), email, password)


@admin.command("reset-password")
def reset_password(
    email: Annotated[str, typer.Argument(help="Address of the account.")],
    base_url: Annotated[
        str, typer.Option(help="The server's public address; defaults to RETINUE_BASE_URL.")
    ] = "",
) -> None:
    """Print a single-use link, valid for one hour, for choosing a new password."""
    from retinue.cli.maintenance import run_reset_password

    run_reset_password(read_settings(**({"RETINUE_BASE_URL": base_url} if base_url else {})), email)


@audit.command("check")
def check_audit_export(
    file: Annotated[Path, typer.Argument(help="An export in the format jsonl.")],
    keys: Annotated[
        Path | None,
        typer.Option(help="The keys of the instance, from /.well-known/retinue-audit-keys.json."),
    ] = None,
) -> None:
    """Check an export of the audit log: every row, their order, and the signature."""
    from retinue.cli.audit_commands import run_export_check

    run_export_check(file, keys, read_settings)


@audit.command("verify")
def verify_audit() -> None:
    """Verify every tenant's audit chain and name the first invalid row."""
    from retinue.cli.maintenance import run_audit_verification

    run_audit_verification(read_settings())


@vault.command("rotate-key")
def rotate_key() -> None:
    """Activate a new key and re-wrap every secret with it, while the server runs."""
    from retinue.cli.vault_commands import run_rotate_key

    run_rotate_key(read_settings())


@vault.command("rotate-root")
def rotate_root(
    new_key: Annotated[
        str, typer.Option(help="The new master key, 32 bytes in base64; generated if left out.")
    ] = "",
) -> None:
    """Wrap the key ring with another master key."""
    from retinue.cli.vault_commands import run_rotate_root

    run_rotate_root(read_settings(), new_key)


@vault.command("rotate-signing-key")
def rotate_signing_key() -> None:
    """Sign new access tokens with a new key; existing tokens stay valid until they expire."""
    from retinue.cli.vault_commands import run_rotate_signing_key

    run_rotate_signing_key(read_settings())


@vault.command("status")
def vault_status() -> None:
    """Show the key versions and the number of secrets each one protects."""
    from retinue.cli.vault_commands import run_status

    run_status(read_settings())


@models.command("pull")
def pull_models() -> None:
    """Download the missing weights of the embedded models."""
    from retinue.cli.model_commands import run_pull

    run_pull(read_settings())


@prices.command("update")
def update_prices(
    file: Annotated[Path, typer.Option(help="A prices.json of a newer release.")],
) -> None:
    """Use a newer list of prices without a new release; restart the server afterwards."""
    from retinue.cli.model_commands import run_update_prices

    run_update_prices(read_settings(), file)


@models.command("list")
def list_models() -> None:
    """Show the embedded models, their licences, and whether their weights are installed."""
    from retinue.cli.model_commands import run_list

    run_list(read_settings())
