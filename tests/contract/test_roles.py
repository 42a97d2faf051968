"""Every route and every role, against a table that people read."""

from pathlib import Path

import pytest

from retinue.access.catalogue import default_permissions
from retinue.access.models import Role
from retinue.kit.http.routing import ACCOUNT, EMBED_KEY, MEMBER, PUBLIC, SIGNED_IN
from tests.contract.routes import NEEDS_PERMISSION, ROUTES, call, label

pytestmark = pytest.mark.either_database

TABLE = Path(__file__).parent / "who_may_call.txt"
WORDS = {
    PUBLIC: "anyone",
    ACCOUNT: "one's own account",
    SIGNED_IN: "one's own account, once it was let in",
    MEMBER: "every user of the tenant",
    EMBED_KEY: "an embed key of the agent",
}


def who_may_call() -> str:
    lines = []
    for route in sorted(ROUTES, key=lambda route: (route.path, route.method)):
        if route.permission is not None:
            roles = [role.value for role in Role if route.permission in default_permissions(role)]
            access = f"{route.permission}: {', '.join(roles)}"
        else:
            access = WORDS[route.requires]
            if route.takes_service_account:
                access += ", or a service account"
        if route.takes_embed_key and route.requires is not EMBED_KEY:
            access += f", or {WORDS[EMBED_KEY]}"
        lines.append(f"{label(route):62} {access}")
    return "\n".join(lines) + "\n"


def test_the_table_of_who_may_call_what_is_the_one_people_read() -> None:
    assert TABLE.read_text() == who_may_call(), (
        "access changed: review, then write who_may_call() to who_may_call.txt (make access)"
    )


@pytest.mark.parametrize("role", list(Role), ids=str)
async def test_each_role_is_let_in_exactly_where_it_holds_the_permission(people, role: Role) -> None:
    caller = await people.signed_in(role, await people.tenant())
    held = set(default_permissions(role))
    for route in NEEDS_PERMISSION:
        answer = await call(caller, route)
        if route.permission in held:
            assert answer.status not in {401, 403}, (label(route), answer)
        else:
            assert answer.status == 403, (label(route), answer)
            assert answer.code == "forbidden"
            assert answer.details == {"required": route.permission, "your_role": role.value}
