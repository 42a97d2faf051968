"""A5: a session that was ended is over on the very next call, at every route that takes a token."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from retinue.access.catalogue import default_permissions
from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api, Response
from tests.contract.routes import NEEDS_PERMISSION, NEEDS_TOKEN, call, label
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD, People
from tests.factories.second_factors import enable

NEW_PASSWORD = "Another-Staple-3"


@dataclass
class Scene:
    """One user with two sessions, and the super administrator."""

    service: Service
    clock: ManualClock
    admin: Api
    user: Any
    api: Api
    tokens: dict[str, str]
    other: Api

    @property
    def old(self) -> Api:
        return self.api.signed_in(self.tokens["access_token"])


async def sign_in(api: Api, user: Any) -> dict[str, str]:
    answer = await api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert answer.status == 200, answer
    return answer.json()


@pytest.fixture
async def scene(service: Service, clock: ManualClock, people: People, admin: Api) -> Scene:
    user = await people.user(Role.tenant_admin, await people.tenant())
    tokens = await sign_in(people.api, user)
    other = people.api.signed_in((await sign_in(people.api, user))["access_token"])
    return Scene(service, clock, admin, user, people.api, tokens, other)


async def log_out(scene: Scene) -> Response:
    return await scene.old.post("/auth/logout")


async def end_one_session(scene: Scene) -> Response:
    sessions = (await scene.old.get("/auth/sessions")).json()["data"]
    (id,) = (session["id"] for session in sessions if session["is_current"])
    return await scene.other.delete(f"/auth/sessions/{id}")


async def end_other_sessions(scene: Scene) -> Response:
    return await scene.other.post("/auth/sessions/revoke-others")


async def change_password(scene: Scene) -> Response:
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    return await scene.other.post("/auth/change-password", body)


async def reset_password(scene: Scene) -> Response:
    await scene.api.post("/auth/forgot-password", {"email": scene.user.email})
    token = link_token(await last_mail(scene.service, scene.user.email))
    return await scene.api.post("/auth/reset-password", {"token": token, "new_password": NEW_PASSWORD})


async def deactivate(scene: Scene) -> Response:
    return await scene.admin.post(f"/users/{scene.user.id}/deactivate")


async def delete(scene: Scene) -> Response:
    return await scene.admin.delete(f"/users/{scene.user.id}")


async def reset_mfa(scene: Scene) -> Response:
    await enable(scene.other, scene.clock)
    return await scene.admin.post(f"/api/v1/users/{scene.user.id}/mfa/reset")


async def steal_refresh_token(scene: Scene) -> Response:
    stolen = {"refresh_token": scene.tokens["refresh_token"]}
    for _ in range(2):
        renewed = await scene.api.post("/auth/refresh", {"refresh_token": scene.tokens["refresh_token"]})
        scene.tokens |= {"refresh_token": renewed.json()["refresh_token"]}
    assert (await scene.api.post("/auth/refresh", stolen)).status == 401
    return renewed


CAUSES: list[Callable[[Scene], Awaitable[Response]]] = [
    log_out,
    end_one_session,
    end_other_sessions,
    change_password,
    reset_password,
    deactivate,
    delete,
    reset_mfa,
    steal_refresh_token,
]


async def assert_over(caller: Api) -> None:
    for route in NEEDS_TOKEN:
        answer = await call(caller, route)
        assert (answer.status, answer.details) == (401, {"reason": "session_ended"}), label(route)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.__name__)
async def test_an_ended_session_is_over_on_the_next_call_of_every_route(scene: Scene, cause: Any) -> None:
    assert (await scene.old.get("/auth/me")).status == 200
    assert (await cause(scene)).status == 200
    await assert_over(scene.old)
    answer = await scene.api.post("/auth/refresh", {"refresh_token": scene.tokens["refresh_token"]})
    assert (answer.status, answer.details) == (401, {"reason": "invalid_refresh_token"})


async def test_a_session_ended_in_one_process_is_over_in_another(scene: Scene) -> None:
    """Nothing but the database is between the two."""
    beside = Service(scene.service.settings, scene.clock)
    await beside.start()
    try:
        there = Api(beside, token=scene.tokens["access_token"])
        assert (await there.get("/auth/me")).status == 200
        assert (await log_out(scene)).status == 200
        await assert_over(there)
    finally:
        await beside.stop()


async def assert_demoted(caller: Api, role: Role, held: set[str]) -> int:
    """Check that every route needs a permission that is held; return the number of refusals."""
    refused = 0
    for route in NEEDS_PERMISSION:
        if route.permission not in held:
            answer = await call(caller, route)
            assert answer.status == 403, (label(route), answer)
            assert answer.details == {"required": route.permission, "your_role": role.value}
            refused += 1
    return refused


@pytest.mark.parametrize("role", [Role.agent_developer, Role.agent_user, Role.viewer])
async def test_who_was_demoted_may_do_less_on_the_next_call_of_every_route(scene: Scene, role: Role) -> None:
    assert (await scene.old.get("/users")).status == 200
    assert (await scene.admin.put(f"/users/{scene.user.id}/role", {"role": role})).status == 200
    assert await assert_demoted(scene.old, role, set(default_permissions(role)))
    for route in NEEDS_TOKEN:
        if route.permission is None and route.name != "logout":
            assert (await call(scene.old, route)).status not in {401, 403}, label(route)


async def test_what_a_role_lost_is_refused_on_the_next_call_of_every_route(scene: Scene) -> None:
    assert (await scene.old.get("/users")).status == 200
    answer = await scene.admin.put("/roles/tenant_admin/permissions", {"permissions": []})
    assert answer.status == 200
    assert await assert_demoted(scene.old, Role.tenant_admin, set())
