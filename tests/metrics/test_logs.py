"""The access log, and sign-ins that fail."""

from typing import Any

from structlog.testing import capture_logs

from tests.client import Api
from tests.factories.people import ADMIN_EMAIL, People

FIELDS = {
    "method", "route", "path", "status", "duration_ms", "bytes", "address", "correlation_id", "principal",
    "principal_id",
}  # fmt: skip


async def test_each_request_is_one_line_without_its_query(make_service: Any) -> None:
    service = await make_service(access_log=True)
    admin = await People(service).super_admin()
    with capture_logs() as logs:
        answer = await admin.get("/api/v1/agents/agt_1?token=canary-7Q", headers={"X-Correlation-ID": "mine"})
        listed = await admin.get("/api/v1/agents?search=canary-7Q")
        await Api(service).get("/nowhere")
    one, two, three = [line for line in logs if line["event"] == "request"]
    assert "canary" not in repr(logs)
    assert one.keys() == FIELDS | {"event", "log_level"}
    assert (one["status"], one["route"], one["path"]) == (
        404, "/api/v1/agents/{agent_id}", "/api/v1/agents/agt_1",
    )  # fmt: skip
    assert (one["correlation_id"], one["principal"], one["principal_id"]) == ("mine", "user", admin.user.id)
    assert (one["bytes"], two["bytes"]) == (len(answer.body), len(listed.body))
    assert (three["route"], three["principal_id"]) == ("unknown", None)
    assert all(line["duration_ms"] >= 0 and line["address"] for line in (one, two, three))


async def test_without_the_setting_there_is_no_access_log(admin: Api) -> None:
    with capture_logs() as logs:
        assert (await admin.get("/api/v1/agents")).status == 200
    assert [line for line in logs if line["event"] == "request"] == []


async def test_a_failed_sign_in_is_a_warning_without_what_was_typed(admin: Api) -> None:
    with capture_logs() as logs:
        typed = {"email": ADMIN_EMAIL, "password": "canary-password"}
        assert (await Api(admin.app).post("/auth/login", typed)).status == 401
    (line,) = [line for line in logs if line["event"] == "sign_in_failed"]
    assert (line["log_level"], line["method"], line["reason"]) == (
        "warning", "password", "invalid_credentials",
    )  # fmt: skip
    assert line["address"]
    assert "canary-password" not in repr(logs)
    assert ADMIN_EMAIL not in repr(line)
