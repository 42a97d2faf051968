"""Settings: read once, refused by name, warned about by nearest name."""

import dataclasses
from pathlib import Path

import pytest

from retinue.kit.secrets import Secret
from retinue.kit.setting_loader import list_documented_settings, load_settings
from retinue.kit.settings import LOOPBACK, BadSetting, Settings
from retinue.wiring import command_settings, server_settings
from tests.kit.certificates import certificate_for


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RETINUE_SIGNUP", "maybe"),
        ("RETINUE_BURST", "perhaps"),
        ("RETINUE_DEFAULT_PLAN", "gold"),
        ("RETINUE_BASE_URL", "example.com"),
        ("RETINUE_BASE_URL", "ftp://example.com"),
        ("RETINUE_ADMIN_EMAIL", "nonsense"),
        ("RETINUE_ADMIN_EMAIL", "Admin <admin@example.com>"),
        ("RETINUE_ADMIN_EMAIL", "the admin@example.com"),
        ("RETINUE_ADMIN_EMAIL", "a@b.c@d.e"),
        ("RETINUE_BASE_URL", "https://x[::1]/"),
        ("RETINUE_TRUSTED_PROXIES", "proxy.local"),
        ("RETINUE_CA_BUNDLE", "/nowhere/ca.pem"),
        ("RETINUE_CA_BUNDLE", __file__),
        ("HTTPS_PROXY", "socks5://proxy:1080"),
        ("HTTPS_PROXY", "https://proxy:3128"),
        ("HTTP_PROXY", "http://proxy:many"),
        ("HTTP_PROXY", "http://"),
        ("HTTP_PROXY", "http://proxy:3128/path"),
        ("RETINUE_PROXY_RESOLVES", "sometimes"),
        ("RETINUE_PASSWORD_COST", "1,2"),
        ("RETINUE_DATABASE_POOL", "0"),
        ("RETINUE_WEBHOOK_RETRY_SCHEDULE", "soon"),
        ("RETINUE_WORKER", "elsewhere"),
        ("RETINUE_LOG_LEVEL", "loud"),
    ],
)
def test_a_bad_value_is_refused_and_its_variable_named(variable: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"^{variable} "):
        load_settings({variable: value})


def test_a_bundle_of_certificates_is_read_at_start(tmp_path: Path) -> None:
    _, bundle = certificate_for("api.example", tmp_path)
    assert load_settings({"RETINUE_CA_BUNDLE": str(bundle)})[0].ca_bundle == bundle
    assert load_settings({"RETINUE_CA_BUNDLE": ""})[0].ca_bundle is None


def test_a_proxy_is_read_in_either_case_and_without_a_scheme() -> None:
    settings, warnings = load_settings(
        {
            "https_proxy": "ada:hush@proxy:3128",
            "HTTP_PROXY": "",
            "http_proxy": "http://other",
            "no_proxy": "a, .b",
        }
    )
    assert settings.https_proxy is not None
    assert settings.https_proxy.reveal() == "http://ada:hush@proxy:3128"
    assert (settings.http_proxy, settings.no_proxy, warnings) == (None, ("a", ".b"), [])
    assert "hush" not in repr(settings)


def test_an_unknown_variable_gets_a_warning_with_the_nearest_name() -> None:
    _, warnings = load_settings({"RETINUE_DATABSE_URL": "x", "RETINUE_TEST_ANYTHING": "x", "HOME": "/"})
    assert warnings == ["unknown setting RETINUE_DATABSE_URL; did you mean RETINUE_DATABASE_URL?"]


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\nexport RETINUE_SIGNUP='off'\nRETINUE_BURST=off\n\nnonsense\n")
    settings, _ = load_settings({"RETINUE_BURST": "on"}, file)
    assert (settings.signup, settings.burst) == ("off", True)


def test_secrets_are_not_printed() -> None:
    settings, _ = load_settings(
        {"RETINUE_ADMIN_PASSWORD": "hush-hush", "RETINUE_SMTP_URL": "smtp://u:hush-hush@h"}
    )
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    ("base_url", "is_loopback"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:1", True),
        ("https://example.com", False),
        ("http://127.0.0.1.example.com", False),
    ],
)
def test_loopback_is_recognized_in_every_spelling(base_url: str, is_loopback: bool) -> None:
    settings = server_settings(Settings(base_url=base_url), [("127.0.0.1", 8080)])
    assert settings.is_development is is_loopback


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8080", "https://retinue.example.com"])
@pytest.mark.parametrize("proxies", [(), ("10.0.0.1",)])
def test_a_development_instance_is_one_that_only_this_machine_can_reach(bound, base_url, proxies) -> None:
    settings = server_settings(Settings(base_url=base_url, trusted_proxies=proxies), [(bound, 8080)])
    expected = bound == "127.0.0.1" and "127.0.0.1" in base_url and not proxies
    assert settings.is_development is expected
    assert settings.egress_allowed() == (LOOPBACK if expected else ())
    assert dataclasses.replace(settings, egress_allow=("10.0.0.0/8",)).egress_allowed() == ("10.0.0.0/8",)
    assert settings.signup_policy() == ("open" if expected else "pending")
    for chosen in ("open", "pending", "tenant", "off"):
        assert dataclasses.replace(settings, signup=chosen).signup_policy() == chosen


@pytest.mark.parametrize(
    ("bound", "base_url", "is_development"),
    [
        ([("127.0.0.1", 80)], "http://127.0.0.1:80", True),
        ([("::1", 80), ("127.0.0.1", 80)], "http://[::1]:80", True),
        ([("0.0.0.0", 80)], "http://127.0.0.1:80", False),
        ([("::", 80)], "http://127.0.0.1:80", False),
        ([("127.0.1.1", 80), ("192.0.2.7", 80)], "http://127.0.1.1:80", False),
        ([("192.0.2.7", 80)], "http://192.0.2.7:80", False),
    ],
)
def test_every_bound_address_counts_when_no_base_url_is_set(bound, base_url, is_development) -> None:
    settings = server_settings(Settings(), bound)
    assert (settings.base_url, settings.is_development) == (base_url, is_development)


@pytest.mark.parametrize(
    ("base_url", "is_development"),
    [("", False), ("http://127.0.0.1:8080", True), ("https://retinue.example.com", False)],
)
def test_a_worker_is_in_development_only_if_its_configured_base_url_is_loopback(
    base_url: str, is_development: bool
) -> None:
    settings = command_settings(Settings(base_url=base_url))
    assert settings.is_development is is_development
    assert settings.base_url == base_url or not base_url


def test_every_setting_is_documented_with_its_meaning() -> None:
    rows = list_documented_settings()
    assert len({row.variable for row in rows}) == len(rows)
    assert all(row.meaning and row.default for row in rows)


def test_a_setting_can_stand_in_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse \n")
    settings, warnings = load_settings({"RETINUE_ADMIN_PASSWORD_FILE": str(secret)})
    assert settings.admin_password == Secret("correct horse ")
    assert warnings == []
    dotenv = tmp_path / ".env"
    dotenv.write_text(f"RETINUE_LOG_LEVEL_FILE={tmp_path / 'level'}\n")
    (tmp_path / "level").write_text("debug\r\n")
    assert load_settings({}, dotenv)[0].log_level == "debug"
    assert load_settings({"RETINUE_LOG_LEVEL": "error"}, dotenv)[0].log_level == "error"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"\n", "an empty file"),
        (b"\xff", "not UTF-8 text"),
        (b"x" * 70_000, "more than 64 KiB"),
    ],
)
def test_a_file_that_holds_no_value_is_refused_by_name(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadSetting, match=rf"^RETINUE_MASTER_KEY_FILE names .*{problem}"):
        load_settings({"RETINUE_MASTER_KEY_FILE": str(path)})


def test_a_value_and_a_file_for_it_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="RETINUE_REDIS_URL_FILE is set together with RETINUE_REDIS_URL;"):
        load_settings({"RETINUE_REDIS_URL": "x", "RETINUE_REDIS_URL_FILE": str(tmp_path)})
