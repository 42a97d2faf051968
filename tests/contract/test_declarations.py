"""Mistakes that must not start, and rules the whole route table keeps."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import retinue
from retinue.app import check_permissions
from retinue.kit.context import Context
from retinue.kit.context.manifest import Authenticator, Manifest
from retinue.kit.context.registry import Registry
from retinue.kit.http.app import App
from retinue.kit.http.route_tree import RouteTree
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Access, Routes
from retinue.kit.principal import ANONYMOUS, Principal
from tests.contract.routes import ROUTES, label


async def handler(ctx: Context) -> None: ...


async def nobody(instance: object, request: object) -> Principal:
    return ANONYMOUS


def test_a_route_that_does_not_say_who_may_call_it_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="requires"):
        Routes("/x", tag="x").get("")(handler)


@pytest.mark.parametrize("requires", ["", "agents", "agents:", "everyone", None, 7])
def test_access_must_be_a_permission_or_one_of_the_named_exceptions(requires) -> None:
    with pytest.raises(TypeError):
        Routes("/x", tag="x").get("", requires=requires)(handler)


@pytest.mark.parametrize("requires", list(Access))
def test_an_embed_key_stands_beside_a_permission_only(requires) -> None:
    with pytest.raises(TypeError, match="or_embed_key"):
        Routes("/x", tag="x").get("", requires=requires, or_embed_key=True)(handler)


def test_a_route_for_keys_that_nobody_knows_does_not_start() -> None:
    routes = Routes("/x", tag="x")
    routes.get("", requires=EMBED_KEY)(handler)
    users = Authenticator("user", nobody)
    with pytest.raises(TypeError, match="embed keys"):
        App(_instance(Manifest(name="x", routes=(routes,), authenticators=(users,))))


def test_two_who_tell_the_same_callers_do_not_start() -> None:
    one = Manifest(name="one", authenticators=(Authenticator("user", nobody),))
    with pytest.raises(TypeError, match="two authenticators"):
        App(_instance(one, one))


def _instance(*manifests: Manifest) -> Any:
    return SimpleNamespace(registry=Registry(manifests))


def test_a_route_that_does_not_say_who_may_call_it_does_not_start() -> None:
    with pytest.raises(TypeError, match="requires"):
        Routes("/x", tag="x").get("")  # type: ignore[call-arg]


def test_an_option_nobody_knows_does_not_start() -> None:
    with pytest.raises(TypeError, match="statsu"):
        Routes("/x", tag="x").get("", requires=PUBLIC, statsu=201)  # type: ignore[call-arg]


def test_a_cost_nobody_knows_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="cost"):
        Routes("/x", tag="x").post("", requires=PUBLIC, cost="cheap")(handler)


def test_a_permission_nobody_declared_does_not_start() -> None:
    routes = Routes("/x", tag="x")
    routes.get("", requires="ghosts:read")(handler)
    with pytest.raises(TypeError, match="ghosts:read"):
        check_permissions((Manifest(name="x", routes=(routes,)),))


def test_two_operations_of_one_name_do_not_start() -> None:
    routes = Routes("/x", tag="x")
    routes.get("/a", requires=PUBLIC)(handler)
    routes.get("/b", requires=PUBLIC)(handler)
    with pytest.raises(TypeError, match="handler"):
        RouteTree(routes.routes)


def test_one_address_declared_twice_does_not_start() -> None:
    async def other(ctx: Context) -> None: ...

    routes = Routes("/x", tag="x")
    routes.get("/{a}", requires=PUBLIC)(_with_parameter("one", "a"))
    routes.get("/{b}", requires=PUBLIC)(_with_parameter("two", "b"))
    with pytest.raises(TypeError, match="twice"):
        RouteTree(routes.routes)


def _with_parameter(name: str, parameter: str):
    namespaces = {"a": lambda: _takes_a, "b": lambda: _takes_b}
    made = namespaces[parameter]()
    made.__name__ = name
    return made


async def _takes_a(ctx: Context, a: str) -> None: ...


async def _takes_b(ctx: Context, b: str) -> None: ...


def test_an_argument_that_is_not_in_the_path_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="not in the path"):
        Routes("/x", tag="x").get("/{b}", requires=PUBLIC)(_takes_a)


@pytest.mark.parametrize("route", ROUTES, ids=label)
def test_every_route_declares_cost_limit_and_answer(route) -> None:
    assert route.cost
    assert route.body_limit > 0
    assert route.returns is not None or route.status == 204, "say what it returns"
    assert route.tag


# Who may open the door without the fence, each for a reason written at the call.
UNFENCED = {
    "access/",
    "approvals/",
    "audit/",
    "auth/",
    "chat/",
    "cli/",
    "credentials/",
    "embed/hosted/",
    "events/",
    "files/",
    "forms/",
    "home/",
    "incoming/",
    "kit/",
    "knowledge/",
    "notifications/",
    "service_accounts/",
    "tables/",
    "tenants/",
    "tools/",
    "traces/",
    "usage/",
    "users/",
    "webhooks/",
    "workflows/",
    "operate/",
}


def test_only_known_places_open_the_unfenced_door() -> None:
    home = Path(retinue.__file__).parent
    for path in sorted(home.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "system":
                where = path.relative_to(home).as_posix()
                assert where.startswith(tuple(UNFENCED)), f"{where}:{node.lineno}"
                reason = node.args[0] if node.args else None
                assert isinstance(reason, ast.Constant), f"{where}:{node.lineno} gives no reason"
                assert str(reason.value).strip()
