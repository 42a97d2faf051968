"""Kinds of custom tools that other domains register."""

import pytest

from retinue.domains import DOMAINS
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.tool_kinds import ToolKind
from retinue.kit.errors import Conflict

pytestmark = pytest.mark.either_database


class FormNotPublished(Conflict):
    """This form is not accepting submissions."""

    code = "form_not_published"


async def submit(ctx, run):
    if run.config["form_id"] == "closed":
        raise FormNotPublished(details={"form_id": "closed"})
    return {"tenant": ctx.tenant_id, "input": run.input, "timeout_s": run.timeout_s, "config": run.config}


@pytest.fixture
async def service(make_service):
    manifest = Manifest(name="planted", tool_kinds=(ToolKind(name="planted_form", run=submit),))
    return await make_service(manifests=(*DOMAINS, manifest))


async def test_a_registered_kind_runs_like_any_other(tools):
    config = {"kind": "planted_form", "form_id": "f1", "timeout_ms": 5000}
    done = await tools.run("custom", config, {"name": "Ada"})
    assert done["output"] == {
        "tenant": tools.tenant_id,
        "input": {"name": "Ada"},
        "timeout_s": 5.0,
        "config": config,
    }


async def test_what_a_registered_kind_raises_is_the_error(tools):
    done = await tools.run("custom", {"kind": "planted_form", "form_id": "closed"})
    assert done["error"] == {
        "code": "form_not_published",
        "message": "This form is not accepting submissions.",
        "details": {"form_id": "closed"},
    }


async def test_a_kind_nobody_registered_is_not_configured(tools):
    done = await tools.run("custom", {"kind": "teleport", "to": "w1"})
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured")
