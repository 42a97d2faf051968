"""Forms from draft to archive, their versions, and what is refused when they are written."""

import pytest

from retinue.access.models import Role
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, send, submission, submit
from tests.factories.happenings import events


async def move(person, form, action: str) -> tuple[int, str]:
    """Return the status of the answer, and the state of the form or the code of the error."""
    answer = await person.post(f"{PATH}/{form['id']}/{action}")
    body = answer.json()
    return answer.status, body["data"]["status"] if "data" in body else body["error"]["code"]


async def test_a_new_form_is_a_draft_that_the_public_does_not_see(person, api) -> None:
    form = await make_form(person, is_draft=True, description="Say hello", branding={"primary_color": "#abc"})
    assert form["slug"].startswith("contact-")
    expected = {
        "status": "draft",
        "stats": {"submissions": 0, "views": 0, "conversion_rate": 0.0},
        "version": 1,
        "field_count": 2,
        "published_at": None,
        "fields": [NAME, {**EMAIL, "required": False}],
    }
    assert {name: form[name] for name in expected} == expected
    assert (await send(api, form)).code == "form_not_published"
    assert (await api.get(address(form))).code == "form_not_found"


async def test_a_form_goes_from_draft_to_archive_and_back(person, api, people) -> None:
    form = await make_form(person, is_draft=True)
    assert [
        await move(person, form, action) for action in ("publish", "publish", "unpublish", "archive")
    ] == [
        (200, "published"),
        (200, "published"),
        (200, "draft"),
        (200, "archived"),
    ]
    refused = await person.post(f"{PATH}/{form['id']}/publish")
    assert (refused.status, refused.code) == (409, "invalid_transition")
    assert refused.details == {"from": "archived", "to": "published", "allowed": ["draft"]}
    assert (await send(api, form)).status == 409
    assert await move(person, form, "unpublish") == (200, "draft")
    assert await move(person, form, "publish") == (200, "published")
    published = (await person.post(f"{PATH}/{form['id']}/publish")).json()["data"]
    assert set(published) == {"id", "status", "slug", "published_at", "updated_at"}
    assert published["published_at"]
    assert len(await events(people, "form.published")) == 2, "not for one that was published already"


async def test_forms_are_found_by_name_and_status_with_the_number_of_their_submissions(person, api) -> None:
    form = await make_form(person)
    await make_form(person, is_draft=True)
    await submit(api, form)
    assert (await person.get(f"{PATH}/slug/{form['slug']}")).json()["data"]["stats"]["submissions"] == 1
    listed = (await person.get(PATH, query={"search": "contact", "status": "published"})).json()
    assert [(one["id"], one["submission_count"], one["field_count"]) for one in listed["data"]] == [
        (form["id"], 1, 2)
    ]
    assert listed["pagination"] == {"page": 1, "per_page": 20, "total": 1, "total_pages": 1}
    assert (await person.get(PATH, query={"sort": "slug"})).details.keys() == {"sort"}


async def test_a_copy_is_a_draft_with_a_slug_of_its_own(person, people) -> None:
    form = await make_form(person)
    copy = (await person.post(f"{PATH}/{form['id']}/duplicate")).json()["data"]
    assert (copy["name"], copy["status"], copy["field_count"]) == ("Contact (copy)", "draft", 2)
    assert copy["slug"] != form["slug"]
    assert len(await events(people, "form.created")) == 2


async def test_a_deleted_form_is_not_found(person, api, people) -> None:
    form = await make_form(person)
    assert (await person.delete(f"{PATH}/{form['id']}")).status == 204
    assert (await person.get(f"{PATH}/{form['id']}")).code == "form_not_found"
    assert (await send(api, form)).code == "form_not_found"
    assert len(await events(people, "form.deleted")) == 1


async def test_a_deleted_form_takes_everything_of_it_along(service, person, api, people) -> None:
    from retinue.files.models import File
    from retinue.forms.models import FormDay, FormUpload, FormVersion, Progress, Submission

    form = await make_form(person, NAME, {"id": "paper", "type": "file"})
    await api.get(address(form))
    await api.put(address(form, "progress", "s" * 20), {"data": {"name": "A"}})
    upload = await api.post(
        address(form, "upload"), files={"file": ("a.txt", b"x", "text/plain")}, fields={"field_id": "paper"}
    )
    await submit(api, form, {"name": "Ada", "paper": upload.json()["data"]["file_id"]})
    assert (await person.delete(f"{PATH}/{form['id']}")).status == 204
    await service.runner.drain()
    async with people.context() as ctx:
        system = ctx.system("test")
        for kind in (Submission, FormVersion, FormUpload, Progress, FormDay, File):
            assert await system.count(kind) == 0, kind


async def test_submissions_keep_the_fields_they_were_made_with(person, api) -> None:
    form = await make_form(person, NAME)
    here = f"{PATH}/{form['id']}"
    first = await submit(api, form)
    other = {"id": "age", "type": "number", "label": "Age"}
    changed = (await person.put(here, {"fields": [other], "name": "Ages"})).json()["data"]
    assert (changed["version"], changed["name"], changed["status"]) == (2, "Ages", "published")
    assert (await person.put(here, {"fields": [other]})).json()["data"]["version"] == 2
    second = await submit(api, form, {"age": 36, "name": "ignored"})
    old, new = await submission(person, form, first), await submission(person, form, second)
    assert (old["form_version"], old["data"]) == (1, {"name": "Ada"})
    assert (new["form_version"], new["data"], new["form_name"]) == (2, {"age": 36}, "Ages")
    versions = (await person.get(f"{here}/versions")).json()["data"]
    assert [(one["version"], one["fields"][0]["id"]) for one in versions] == [(2, "age"), (1, "name")]
    assert (await person.get(f"{here}/versions/1")).json()["data"]["fields"] == [NAME]
    assert (await person.get(f"{here}/versions/7")).code == "version_not_found"
    draft = await make_form(person, is_draft=True)
    assert (await person.put(f"{PATH}/{draft['id']}", {"fields": [other]})).json()["data"]["version"] == 1


BAD_FORMS = [
    ({"fields": []}, {"name"}),
    ({"name": "A"}, {"fields"}),
    ({"name": "A" * 101, "fields": []}, {"name"}),
    ({"name": "A", "fields": {}}, {"fields"}),
    ({"name": "A", "fields": [{}]}, {"fields.0.type"}),
    (
        {"name": "A", "fields": [{"type": "colour"}, {"type": "select"}]},
        {"fields.0.type", "fields.1.options"},
    ),
    ({"name": "A", "fields": [{"type": "text", "id": ""}]}, {"fields.0.id"}),
    ({"name": "A", "fields": [{"type": "text", "id": "a\nb"}]}, {"fields.0.id"}),
    ({"name": "A", "fields": [{"type": "text", "id": ["a"]}]}, {"fields.0.id"}),
    ({"name": "A", "fields": [{"type": "text", "id": {"a": 1}}]}, {"fields.0.id"}),
    ({"name": "A", "fields": [{"type": "text", "id": "a"}, {"type": "text", "id": "a"}]}, {"fields.1.id"}),
    ({"name": "A", "fields": [{"type": "text", "required": "yes"}]}, {"fields.0.required"}),
    ({"name": "A", "fields": [{"type": "text", "label": 7}]}, {"fields.0.label"}),
    ({"name": "A", "fields": [{"type": "text", "validation": []}]}, {"fields.0.validation"}),
    ({"name": "A", "fields": [{"type": "radio", "options": [{"label": "x"}]}]}, {"fields.0.options.0"}),
    ({"name": "A", "fields": [{"type": "radio", "options": "x"}]}, {"fields.0.options"}),
    (
        {"name": "A", "fields": [{"type": "text", "conditional": {"field": "b", "operator": "looks_like"}}]},
        {"fields.0.conditional.operator"},
    ),
    (
        {"name": "A", "fields": [{"type": "text", "conditional": {"field": "b", "operator": "equals"}}]},
        {"fields.0.conditional.value"},
    ),
    ({"name": "A", "fields": [{"type": "select", "data_source": {"type": "sql"}}]}, None),
    ({"name": "A", "fields": [], "workflow_id": "w" * 65}, {"workflow_id"}),
    ({"name": "A", "fields": [], "data_table_config": {}}, {"data_table_config.table_id"}),
    ({"name": "A", "fields": [], "branding": {"primary_color": "red;}*{background:url(//evil)}"}}, None),
    ({"name": "A", "fields": [], "branding": {"background_color": "#12345"}}, {"branding.background_color"}),
    *(
        ({"name": "A", "fields": [], "settings": {"redirect_url": url}}, {"settings.redirect_url"})
        for url in (
            "javascript:alert(1)",
            "//evil.example",
            "https:evil",
            "http://evil.example",
            "data:text/html,x",
            "https://a b",
            "/\\evil",
            "https://me@evil.example/",
            7,
        )
    ),
    ({"name": "A", "fields": [], "branding": {"logo_url": "javascript:alert(1)"}}, {"branding.logo_url"}),
    ({"name": "A", "fields": [], "settings": {"submit_limit": 0}}, {"settings.submit_limit"}),
    ({"name": "A", "fields": [], "settings": {"close_at": "soon"}}, {"settings.close_at"}),
    ({"name": "A", "fields": [], "settings": {"spam": {"min_seconds": -1}}}, {"settings.spam.min_seconds"}),
    ({"name": "A", "fields": [], "settings": {"limits": {"submit": 0}}}, {"settings.limits.submit"}),
    ({"name": "A", "fields": [], "settings": {"notifications": 7}}, {"settings.notifications"}),
    ({"name": "A", "fields": [], "settings": {"x": "y" * 70_000}}, {"settings"}),
    ({"name": "A", "fields": [{"type": "text"}] * 201}, {"fields"}),
]


@pytest.mark.either_database
async def test_a_form_that_makes_no_sense_is_refused_with_every_reason(person) -> None:
    wrong = []
    for body, places in BAD_FORMS:
        answer = await person.post(PATH, body)
        if answer.status != 422 or (places is not None and set(answer.details) != places):
            wrong.append((body, answer))
    assert wrong == []
    good = {"redirect_url": "/thanks", "close_at": "2030-01-01T00:00:00+01:00", "spam": None, "odd": [1]}
    form = await make_form(
        person,
        {"type": "text", "label": "Your näme"},
        {"type": "text", "label": "Your name"},
        {"type": "section"},
        is_draft=True,
        settings=good,
        branding={"logo_url": "https://example.com/a.png", "primary_color": ""},
    )
    assert [field["id"] for field in form["fields"]] == ["your_name", "your_name_2", "section_3"]
    assert form["settings"]["close_at"] == "2029-12-31T23:00:00.000000Z"
    assert form["settings"]["odd"] == [1]


async def test_who_may_do_what(people, api) -> None:
    tenant = await people.tenant()
    developer = await people.signed_in(Role.agent_developer, tenant)
    form = await make_form(developer)
    user, viewer = [await people.signed_in(role, tenant) for role in (Role.agent_user, Role.viewer)]
    here = f"{PATH}/{form['id']}"
    body = {"data": {"name": "Ada"}}
    assert [
        (await user.get(here)).status,
        (await user.post(f"{here}/submit", body)).status,
        (await user.put(here, {"name": "Mine"})).status,
        (await viewer.get(here)).status,
        (await viewer.post(f"{here}/submit", body)).status,
        (await viewer.delete(here)).status,
    ] == [200, 201, 403, 200, 403, 403]
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await stranger.get(here)).code == "form_not_found"
    assert (await stranger.get(f"{PATH}/slug/{form['slug']}")).code == "form_not_found"
    assert (await stranger.post(f"{here}/submit", body)).code == "form_not_found"
