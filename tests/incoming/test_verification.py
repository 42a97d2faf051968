"""Every scheme by which senders prove themselves, with requests signed as the senders sign them."""

import pytest

from tests.factories.incoming import PATH, address, list_received, make_hook
from tests.incoming import signing
from tests.incoming.signing import SECRET, STANDARD_SECRET, Sent

pytestmark = pytest.mark.either_database

BODY = b'{"order":17,  "name":"caf\xc3\xa9"}'
SCHEMES = [
    ("hmac_sha256", signing.hmac_hex),
    ("hmac_sha256", signing.hmac_base64),
    ("github", signing.github),
    ("stripe", signing.stripe),
    ("slack", signing.slack),
    ("standard_webhooks", signing.standard_webhooks),
    ("standard_webhooks", signing.svix),
    ("token", signing.token),
]
WITH_TIMESTAMP = {"stripe", "slack", "standard_webhooks"}
SLACK_FORM = (
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
# From the documents of GitHub, Slack and Standard Webhooks; Stripe's was signed with openssl. A body that is
# no JSON is refused as such, and only where its signature is good.
PUBLISHED = [
    (
        "github",
        "It's a Secret to Everybody",
        0,
        Sent(
            b"Hello, World!",
            {
                "X-Hub-Signature-256": "sha256="
                "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
            },
        ),
        400,
    ),
    (
        "slack",
        "8f742231b10e8888abcd99yyyzzz85a5",
        1_531_420_618,
        Sent(
            SLACK_FORM.encode(),
            {
                "X-Slack-Request-Timestamp": "1531420618",
                "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
            },
        ),
        400,
    ),
    (
        "standard_webhooks",
        STANDARD_SECRET,
        1_614_265_330,
        Sent(
            b'{"test": 2432232314}',
            {
                "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
                "webhook-timestamp": "1614265330",
                "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            },
        ),
        200,
    ),
    (
        "stripe",
        "whsec_stripe_test_secret",
        1_614_265_330,
        Sent(
            b'{"id":"evt_1MoqqJ2eZvKYlo2C","object":"event","type":"charge.succeeded"}',
            {
                "Stripe-Signature": "t=1614265330,v1="
                "45c14c699776adb3ffa5239751acbcc2d9896c5707da9f13debc4454ff2e6908"
            },
        ),
        200,
    ),
    (
        "hmac_sha256",
        "shared-secret",
        0,
        Sent(b'{"order":17}', {"X-Signature": "6wp/+PUc2VfqKa3dO/j+KXZB7hFnCQignj+0o1gltnA="}),
        200,
    ),
]


def secret_for(scheme: str) -> str:
    return STANDARD_SECRET if scheme == "standard_webhooks" else SECRET


async def deliver(api, hook, sent: Sent, **headers: str):
    return await api.request(
        "POST", address(hook), content=sent.body, headers={**sent.headers, "X-Note": "n", **headers}
    )


def spoil_deliveries(scheme: str, sign, now: int) -> dict[str, tuple[Sent, str | None]]:
    """Deliveries that must not pass, and the reason that is told; None where it may be either."""
    good = sign(BODY, now)
    proof = proof_of(good)
    cases: dict[str, tuple[Sent, str | None]] = {
        "another secret": (sign(BODY, now, STANDARD_SECRET[:-4] + "aaaa"), "invalid_signature"),
        "garbage": (Sent(BODY, {**good.headers, proof[-1]: "é=,v1,%% sha256="}), "invalid_signature"),
    }
    for name in proof:
        without = {key: value for key, value in good.headers.items() if key != name}
        cases[f"without {name}"] = (Sent(BODY, without), "missing_signature")
        cases[f"{name} cut"] = (Sent(BODY, {**good.headers, name: good.headers[name][:-1]}), None)
    if scheme != "token":
        cases["tampered"] = (Sent(BODY.replace(b"17", b"18"), good.headers), "invalid_signature")
        cases["respaced"] = (Sent(BODY.replace(b",  ", b","), good.headers), "invalid_signature")
    if scheme in WITH_TIMESTAMP:
        cases["too old"] = (sign(BODY, now - 301), "signature_expired")
        cases["too new"] = (sign(BODY, now + 302), "signature_expired")
    return cases


def proof_of(sent: Sent) -> list[str]:
    return [name for name in sent.headers if name != "X-GitHub-Event"]


@pytest.mark.parametrize(("scheme", "sign"), SCHEMES, ids=lambda value: getattr(value, "__name__", value))
async def test_what_is_signed_is_taken_and_everything_else_is_not(admin, api, clock, scheme, sign) -> None:
    hook = await make_hook(admin, verification={"type": scheme, "secret": secret_for(scheme)})
    now = int(clock.time())
    for name, (sent, reason) in spoil_deliveries(scheme, sign, now).items():
        answer = await deliver(api, hook, sent)
        assert answer.status == 401, (name, answer)
        assert reason is None or answer.details == {"reason": reason}, (name, answer)
    good = sign(BODY, now - 298)
    answer = await deliver(api, hook, good)
    assert (answer.status, answer.json()["duplicate"]) == (200, False)
    (entry,) = await list_received(admin, hook)
    assert entry["payload"] == {"order": 17, "name": "café"}
    assert entry["headers"]["x-note"] == "n"
    assert secret_for(scheme) not in str(entry)
    assert good.headers[proof_of(good)[-1]] not in str(entry)


async def test_the_published_examples_of_the_providers_are_good(admin, api, clock) -> None:
    hooks = [
        (await make_hook(admin, verification={"type": scheme, "secret": secret}), at, sent, status)
        for scheme, secret, at, sent, status in PUBLISHED
    ]
    for hook, at, sent, status in hooks:
        if at:
            clock.advance(at - clock.time())
        answer = await deliver(api, hook, sent)
        assert answer.status == status, (hook, answer)
        spoiled = await deliver(api, hook, Sent(sent.body + b" ", sent.headers))
        assert (spoiled.status, spoiled.code) == (401, "unauthorized")
        assert spoiled.headers["www-authenticate"] == "Signature"
        clock.advance(301)
        if at:
            late = await deliver(api, hook, sent)
            assert late.details == {"reason": "signature_expired"}


async def test_two_signatures_in_two_headers_are_none(service, admin, api) -> None:
    hook = await make_hook(
        admin, verification={"type": "token", "secret": SECRET, "header": "X-Gitlab-Token"}
    )
    answer = await deliver(api, hook, Sent(b"1", {"X-Gitlab-Token": SECRET}))
    assert answer.status == 200

    async def twice(scope, receive, send):
        scope["headers"].append((b"x-gitlab-token", SECRET.encode()))
        await service(scope, receive, send)

    refused = await deliver(type(api)(twice), hook, Sent(b"1", {"X-Gitlab-Token": "other"}))
    assert (refused.status, refused.details) == (401, {"reason": "missing_signature"})


async def test_a_token_may_come_as_a_bearer(admin, api) -> None:
    hook = await make_hook(admin, verification={"type": "token", "secret": SECRET, "header": "Authorization"})
    for value, status in ((f"Bearer {SECRET}", 200), (SECRET, 200), ("Bearer other", 401)):
        assert (await deliver(api, hook, Sent(b"1", {"Authorization": value}))).status == status
    assert all("authorization" not in entry["headers"] for entry in await list_received(admin, hook))


async def test_the_question_that_slack_asks_an_address_is_answered(
    admin, api, clock, starts, service
) -> None:
    verification = {"type": "slack", "secret": SECRET}
    hook = await make_hook(admin, verification=verification, workflow_id="wf_known")
    body = b'{"type":"url_verification","challenge":"3eZbrw1aB","token":"x"}'
    answer = await deliver(api, hook, signing.slack(body, int(clock.time())))
    assert (answer.status, answer.json()["challenge"]) == (200, "3eZbrw1aB")
    await service.runner.drain()
    assert starts.asked == []
    plain = await make_hook(admin)
    assert "challenge" not in (await deliver(api, plain, Sent(body))).json()


async def test_the_secret_stays_where_the_type_stays_and_is_never_shown(admin, api, people) -> None:
    hook = await make_hook(admin, verification={"type": "github", "secret": SECRET})
    where = f"{PATH}/{hook['id']}"
    assert hook["verification"] == {"type": "github", "header": "X-Hub-Signature-256", "has_secret": True}
    changed = await admin.put(where, {"verification": {"type": "github"}, "name": "Renamed"})
    assert (changed.status, changed.json()["name"]) == (200, "Renamed")
    assert (await deliver(api, hook, signing.github(BODY, 0))).status == 200
    for verification in ({"type": "stripe"}, {"type": "standard_webhooks", "secret": "not base64!"}):
        refused = await admin.put(where, {"verification": verification})
        assert (refused.status, list(refused.details)) == (422, ["verification.secret"])
    assert (await admin.put(where, {"verification": None})).json()["verification"] == {
        "type": "none",
        "header": None,
        "has_secret": False,
    }
    assert (await deliver(api, hook, Sent(BODY))).status == 200
    async with people.context() as ctx:
        rows = await ctx.unit_of_work.begin()
        for table in ("event_log", "audit_log", "incoming_webhooks", "incoming_events"):
            assert SECRET not in str(await rows.fetch(f"SELECT * FROM {table}", []))
