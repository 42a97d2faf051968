"""Free objects that their kind declares: a key that has no effect is warned about where it is saved."""

from typing import Any

import pytest

from tests.factories.agents import make_agent
from tests.factories.tools import make_tool, tool_body

STRICT = {"Prefer": "handling=strict"}
RULES = {"allowed_domain": "example.com"}
EMAIL = {"type": "email", "label": "E-mail", "validation": RULES, "mandatory": True}
UNLESS = {
    "type": "text",
    "label": "Why?",
    "conditional": {"any": [{"field": "email", "operator": "is_empty", "vlue": 1}]},
}
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "tool": (
        "/v1/tools",
        tool_body(require_approval=True, auth_config={"tokn": "x"}),
        ["require_approval", "auth_config.tokn"],
    ),
    "subscription": (
        "/api/v1/event-subscriptions",
        {
            "event_type": "agent.created",
            "action_type": "notification",
            "action_config": {"title": "New", "filter": {"name": "A"}, "recipients": {"mails": []}},
        },
        ["action_config.filter", "action_config.recipients.mails"],
    ),
    "form": (
        "/api/v1/forms",
        {
            "name": "Contact",
            "fields": [
                EMAIL,
                UNLESS,
                {"type": "radio", "label": "R", "options": [{"value": 1, "lable": "One"}]},
            ],
            "settings": {"one_per_usr": True, "spam": {"honey": 1}, "notifications": {"mail": "a@b.example"}},
            "branding": {"color": "#fff"},
        },
        [
            "fields.0.mandatory",
            "fields.0.validation.allowed_domain",
            "fields.1.conditional.any.0.vlue",
            "fields.2.options.0.lable",
            "settings.one_per_usr",
            "settings.notifications.mail",
            "settings.spam.honey",
            "branding.color",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_keys_without_effect_are_told(admin, case: str) -> None:
    path, body, unknown = CASES[case]
    strict = await admin.post(path, body, headers=STRICT)
    assert strict.status == 422, strict
    assert set(strict.details) <= set(unknown)
    answer = await admin.post(path, body)
    assert answer.status == 201, answer
    assert answer.json()["warnings"] == [f"ignored_field:{name}" for name in unknown]


async def test_an_override_is_declared_by_its_tool(admin) -> None:
    tool, agent = await make_tool(admin), await make_agent(admin)
    body = {"tool_id": tool["id"], "config_override": {"timeout_ms": 5, "timeout": 5}}
    answer = await admin.post(f"/v1/agents/{agent['id']}/tools", body)
    assert answer.json()["warnings"] == ["ignored_field:config_override.timeout"]


async def test_a_channel_has_the_keys_of_its_provider(admin) -> None:
    providers = (await admin.get("/api/v1/notification-channels/providers")).json()
    named = {one["id"] for one in providers.get("data", providers.get("providers", []))}
    assert "http" in named
    body = {"name": "Desk", "type": "webhook", "provider": "http"}
    sent = {**body, "config": {"url": "https://hooks.example.com/x", "hedaers": {"A": "b"}}}
    answer = await admin.post("/api/v1/notification-channels", sent)
    assert answer.status == 201, answer
    assert answer.json()["warnings"] == ["ignored_field:config.hedaers"]
