"""Tests of a widget's design, and of the pages that have loaded it."""

import pytest

from retinue.access.models import Role
from tests.embed.keys import PATH

OWN = {
    "title": None,
    "greeting": None,
    "placeholder": None,
    "accent": None,
    "on_accent": None,
    "scheme": "auto",
    "position": "right",
    "suggestions": [],
    "show_sources": True,
    "second_accent": None,
    "lead": None,
    "logo_url": None,
    "contact_url": None,
    "privacy_url": None,
    "imprint_url": None,
}
CHOSEN = {
    "title": "Support",
    "greeting": "Hello there.",
    "placeholder": "Ask away",
    "accent": "#0a6d76",
    "on_accent": "#ffffff",
    "scheme": "dark",
    "position": "left",
    "suggestions": ["Where is my order?"],
    "show_sources": False,
    "second_accent": "#e4572e",
    "lead": "Answers about orders",
    "logo_url": "https://shop.example/logo.svg",
    "contact_url": "mailto:help@shop.example",
    "privacy_url": "https://shop.example/privacy?lang=en",
    "imprint_url": "https://shop.example/imprint",
}


def settings(agent):
    return f"/api/v1/agents/{agent['id']}/widget"


def public(agent):
    return f"/api/v1/public/agents/{agent['id']}/widget"


async def installations(admin, agent):
    return (await admin.get(f"{settings(agent)}/installations")).json()["data"]


async def load_widget(api, agent, key, origin):
    return await api.get(public(agent), headers={"Authorization": f"Bearer {key}", "Origin": origin})


async def test_a_design_is_kept_and_shown_to_pages(admin, api, agent, holder):
    assert (await admin.get(settings(agent))).json() == OWN
    saved = await admin.put(settings(agent), CHOSEN)
    assert (saved.status, saved.json()) == (200, CHOSEN)
    assert (await admin.get(settings(agent))).json() == CHOSEN
    answer = await load_widget(api, agent, holder.text, "https://example.com")
    shown = {"agent": {"id": agent["id"], "name": agent["name"]}, "settings": CHOSEN}
    assert answer.json() == shown | {"allow_attachments": True}
    assert answer.headers["access-control-allow-origin"] == "https://example.com"
    # Replaced as a whole; empty texts are the widget's own.
    assert (await admin.put(settings(agent), {"title": " "})).json() == OWN


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"accent": "red"}, "accent"),
        ({"accent": "#12345"}, "accent"),
        ({"on_accent": "url(x)"}, "on_accent"),
        ({"scheme": "sepia"}, "scheme"),
        ({"position": "top"}, "position"),
        ({"suggestions": ["a"] * 5}, "suggestions"),
        ({"suggestions": ["a" * 81]}, "suggestions.0"),
        ({"title": "a" * 201}, "title"),
    ],
)
async def test_designs_that_make_no_sense_are_refused(admin, agent, body, field):
    answer = await admin.put(settings(agent), body)
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_a_page_that_loads_the_widget_is_noted_once_in_a_while(admin, api, agent, holder, clock):
    assert await installations(admin, agent) == []
    await load_widget(api, agent, holder.text, "https://example.com")
    (first,) = await installations(admin, agent)
    assert (first["origin"], first["key_name"]) == ("https://example.com", holder.key["name"])
    clock.advance(100)
    await load_widget(api, agent, holder.text, "https://example.com")
    assert await installations(admin, agent) == [first]
    clock.advance(600)
    await load_widget(api, agent, holder.text, "https://example.com")
    await load_widget(api, agent, holder.text, "http://localhost:3000")
    seen = await installations(admin, agent)
    assert {one["origin"] for one in seen} == {"https://example.com", "http://localhost:3000"}
    again = next(one for one in seen if one["origin"] == first["origin"])
    assert again["first_seen_at"] == first["first_seen_at"]
    assert again["last_seen_at"] > first["last_seen_at"]


async def test_callers_without_a_page_are_not_noted(admin, api, agent, holder):
    key = {"Authorization": f"Bearer {holder.text}"}
    assert (await api.get(public(agent), headers=key)).status == 200
    assert (await api.get(public(agent), headers={**key, "Origin": "null"})).status == 200
    assert await installations(admin, agent) == []


async def test_invented_origins_push_out_the_oldest(admin, api, agent, holder, clock):
    for number in range(52):
        clock.advance(1)
        await load_widget(api, agent, holder.text, f"https://{number}.example.com")
    seen = [one["origin"] for one in await installations(admin, agent)]
    assert len(seen) == 50
    assert (seen[0], seen[-1]) == ("https://51.example.com", "https://2.example.com")


async def test_a_page_that_may_not_use_the_key_learns_that_and_is_listed_as_refused(
    admin, api, agent, key_for
):
    holder = await key_for(agent, allowed_domains=["example.com"])
    refused = await load_widget(api, agent, holder.text, "https://shop.example")
    assert (refused.status, refused.details["reason"]) == (403, "origin_not_allowed")
    # The widget can read this refusal, and nothing else of the key.
    assert refused.headers["access-control-allow-origin"] == "https://shop.example"
    chat = await holder.say(origin="https://shop.example")
    assert (chat.status, chat.headers.get("access-control-allow-origin")) == (403, None)
    (seen,) = await installations(admin, agent)
    assert (seen["origin"], seen["is_refused"]) == ("https://shop.example", True)
    await admin.patch(f"{PATH}/{holder.key['id']}", {"allowed_domains": ["shop.example"]})
    assert (await load_widget(api, agent, holder.text, "https://shop.example")).status == 200
    assert [one["is_refused"] for one in await installations(admin, agent)] == [False]
    assert (await load_widget(api, agent, "emb_x", "https://example.com")).status == 401


async def test_refused_origins_never_push_out_those_that_have_the_widget(admin, api, agent, key_for, clock):
    holder = await key_for(agent, allowed_domains=["example.com"])
    await load_widget(api, agent, holder.text, "https://example.com")
    for number in range(22):
        clock.advance(1)
        await load_widget(api, agent, holder.text, f"https://{number}.invalid")
    seen = await installations(admin, agent)
    assert [one["origin"] for one in seen if not one["is_refused"]] == ["https://example.com"]
    assert len(seen) == 21


async def test_the_page_in_a_frame_is_noted_by_the_page_around_it(admin, api, agent, holder):
    headers = {"Referer": "https://shop.example.com/cart?x=1"}
    answer = await api.get(f"/embed/{agent['id']}", query={"api_key": holder.text}, headers=headers)
    assert answer.status == 200
    assert [one["origin"] for one in await installations(admin, agent)] == ["https://shop.example.com"]


async def test_a_key_gets_other_domains_without_becoming_another_key(admin, api, agent, key_for):
    holder = await key_for(agent, allowed_domains=["example.com"])
    path = f"{PATH}/{holder.key['id']}"
    changed = await admin.patch(path, {"allowed_domains": ["Example.org", "example.org"], "name": "Shop"})
    assert changed.status == 200
    assert changed.json() == {
        **{name: value for name, value in holder.key.items() if name not in {"api_key", "identity_secret"}},
        "allowed_domains": ["example.org"],
        "name": "Shop",
    }
    assert (await load_widget(api, agent, holder.text, "https://example.org")).status == 200
    assert (await load_widget(api, agent, holder.text, "https://example.com")).status == 403
    limited = await admin.patch(path, {"rate_limit_per_minute": 5, "monthly_token_budget": 1000})
    assert (limited.json()["rate_limit_per_minute"], limited.json()["allowed_domains"]) == (
        5,
        ["example.org"],
    )
    assert (await admin.patch(path, {"rate_limit_per_minute": None})).json()["rate_limit_per_minute"] is None
    wrong = await admin.patch(path, {"allowed_domains": ["a b"]})
    assert (wrong.status, list(wrong.details)) == (422, ["allowed_domains.0"])
    await admin.delete(path)
    assert (await admin.patch(path, {"name": "Late"})).status == 409


async def test_who_may_only_read_designs_nothing(people, agent):
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.get(settings(agent))).status == 200
    assert (await viewer.put(settings(agent), CHOSEN)).status == 403


@pytest.mark.parametrize(
    "change",
    [
        {"logo_url": "http://shop.example/logo.svg"},
        {"logo_url": "javascript:alert(1)"},
        {"privacy_url": "https://"},
        {"privacy_url": 'https://shop.example/"onload='},
        {"imprint_url": "mailto:help@shop.example"},
        {"imprint_url": "https://shop.example/" + "x" * 500},
        {"contact_url": "tel:112"},
        {"contact_url": "mailto:help@shop.example?bcc=x@y.example"},
        {"second_accent": "red"},
        {"lead": "x" * 201},
    ],
)
async def test_links_colours_and_texts_of_the_look_are_checked(admin, agent, change):
    refused = await admin.put(settings(agent), {**CHOSEN, **change})
    assert (refused.status, list(refused.details)) == (422, list(change))
