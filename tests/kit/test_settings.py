"""Settings: read once, refused by name, warned about by nearest name."""

from pathlib import Path

import pytest

from retinue.kit.settings import LOOPBACK, BadSetting, Settings, documented, load


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RETINUE_SIGNUP", "maybe"),
        ("RETINUE_BURST", "perhaps"),
        ("RETINUE_DEFAULT_PLAN", "gold"),
        ("RETINUE_BASE_URL", "example.com"),
        ("RETINUE_BASE_URL", "ftp://example.com"),
        ("RETINUE_ADMIN_EMAIL", "nonsense"),
        ("RETINUE_TRUSTED_PROXIES", "proxy.local"),
        ("RETINUE_PASSWORD_COST", "1,2"),
        ("RETINUE_DATABASE_POOL", "0"),
        ("RETINUE_WEBHOOK_RETRY_SCHEDULE", "soon"),
        ("RETINUE_WORKER", "elsewhere"),
        ("RETINUE_LOG_LEVEL", "loud"),
    ],
)
def test_a_bad_value_is_refused_and_its_variable_named(variable: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"^{variable} "):
        load({variable: value})


def test_an_unknown_variable_gets_a_warning_with_the_nearest_name() -> None:
    _, warnings = load({"RETINUE_DATABSE_URL": "x", "RETINUE_TEST_ANYTHING": "x", "HOME": "/"})
    assert warnings == ["unknown setting RETINUE_DATABSE_URL; did you mean RETINUE_DATABASE_URL?"]


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\nexport RETINUE_SIGNUP='off'\nRETINUE_BURST=off\n\nnonsense\n")
    settings, _ = load({"RETINUE_BURST": "on"}, file)
    assert (settings.signup, settings.burst) == ("off", True)


def test_secrets_are_not_printed() -> None:
    settings, _ = load({"RETINUE_ADMIN_PASSWORD": "hush-hush", "RETINUE_SMTP_URL": "smtp://u:hush-hush@h"})
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    ("base_url", "allowed"),
    [
        ("http://127.0.0.1:8080", LOOPBACK),
        ("http://localhost", LOOPBACK),
        ("http://[::1]:1", LOOPBACK),
        ("https://example.com", ()),
        ("http://127.0.0.1.example.com", ()),
    ],
)
def test_only_a_development_instance_may_call_this_machine_by_default(base_url, allowed) -> None:
    assert Settings(base_url=base_url).egress_allowed() == allowed
    assert Settings(base_url=base_url, egress_allow=("10.0.0.0/8",)).egress_allowed() == ("10.0.0.0/8",)


def test_every_setting_is_documented_with_its_meaning() -> None:
    rows = documented()
    assert len({row.variable for row in rows}) == len(rows)
    assert all(row.meaning and row.default for row in rows)
