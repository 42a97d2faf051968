"""`retinue doctor`: runs the checks, prints them, and exits with the worst result."""

import asyncio
import dataclasses

import msgspec
import typer

from retinue.cli.doctor.findings import Finding, FindingStatus
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings

_EXIT_CODES = {FindingStatus.ok: 0, FindingStatus.warn: 1, FindingStatus.fail: 2}


class DoctorReport(msgspec.Struct, frozen=True):
    status: FindingStatus
    checks: list[Finding]


def run_doctor(settings: Settings, warnings: list[str], *, is_json: bool) -> None:
    from retinue.cli.doctor.machine_checks import check_machine
    from retinue.cli.doctor.service_checks import check_services

    # A finding says what is wrong; the log would only say it twice.
    quiet = dataclasses.replace(settings, log_level="error")
    configure_logging(quiet)

    async def run() -> list[Finding]:
        found = list(check_machine(quiet, warnings))
        return found + [finding async for finding in check_services(quiet)]

    _report(asyncio.run(run()), is_json=is_json)


def run_probe(settings: Settings, url: str, *, is_json: bool) -> None:
    from retinue.cli.doctor.probe import probe

    _report([asyncio.run(probe(settings, url))], is_json=is_json)


def report_bad_setting(error: Exception, *, is_json: bool) -> None:
    hint = "Correct the variable; docs/reference/settings.md lists all."
    _report([Finding("settings", FindingStatus.fail, str(error), hint)], is_json=is_json)


def _report(findings: list[Finding], *, is_json: bool) -> None:
    worst = max((finding.status for finding in findings), key=_EXIT_CODES.__getitem__)
    if is_json:
        report = msgspec.json.encode(DoctorReport(worst, findings))
        typer.echo(msgspec.json.format(report, indent=2).decode())
    else:
        for finding in findings:
            typer.echo(f"{finding.status:<5} {finding.name:<15} {finding.detail}")
            if finding.status is not FindingStatus.ok:
                typer.echo(f"      {finding.hint}")
    raise typer.Exit(_EXIT_CODES[worst])
