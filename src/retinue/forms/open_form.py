"""A form as submissions need it: loaded once per request, its rules compiled once per stored text."""

import re

import msgspec
import sqlalchemy as sa

from retinue.forms.errors import FormClosed, FormNotFound, FormNotPublished, TooManySubmissions
from retinue.forms.form_settings import FormRules, parse_rules
from retinue.forms.models import DataTableConfig, Form, FormStatus
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.errors import RateLimited
from retinue.kit.http.request import Request, limit_address
from retinue.kit.schema.fields import Fields, compile_fields

MAX_UNKNOWN_SLUGS_PER_MINUTE = 120

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_forms = Form.__table__
_COLUMNS = ("id", "tenant_id", "name", "slug", "status", "version", "created_by", "workflow_id")
_BY_SLUG = Statement(
    sa.select(
        *(_forms.c[name] for name in _COLUMNS), _forms.c.fields, _forms.c.settings, _forms.c.data_table_config
    ).where(_forms.c.slug == sa.bindparam("slug", type_=sa.Text()))
)


class OpenForm(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides about a submission."""

    id: str
    tenant_id: str
    name: str
    slug: str
    status: FormStatus
    version: int
    created_by: str
    workflow_id: str | None
    fields: Fields
    rules: FormRules
    data_table_config: DataTableConfig | None

    @property
    def has_processing(self) -> bool:
        """Whether a submission triggers anything besides being stored."""
        return self.workflow_id is not None or self.saves_rows

    @property
    def saves_rows(self) -> bool:
        return self.data_table_config is not None and self.data_table_config.auto_save


def to_open_form(form: Form) -> OpenForm:
    return OpenForm(
        **{name: getattr(form, name) for name in _COLUMNS},
        fields=compile_fields(json_text(form.fields)),
        rules=parse_rules(json_text(form.settings)),
        data_table_config=form.data_table_config,
    )


async def load_by_slug(ctx: Context, slug: str, request: Request) -> OpenForm:
    """Return the form of a public URL and bind the context to its tenant.

    Requests for unknown slugs are rate-limited, to prevent guessing.
    """
    row = None
    if _SLUG.fullmatch(slug):
        row = await ctx.system("a slug says for itself which tenant it belongs to").first(_BY_SLUG, slug=slug)
    if row is None:
        await require_address_quota(
            ctx, request, "forms", MAX_UNKNOWN_SLUGS_PER_MINUTE, request.route.over_limit
        )
        raise FormNotFound
    *plain, fields, settings, config = row
    form = OpenForm(
        **dict(zip(_COLUMNS, plain, strict=True)) | {"status": FormStatus(plain[4])},
        fields=compile_fields(fields),
        rules=parse_rules(settings),
        data_table_config=None if config is None else msgspec.json.decode(config, type=DataTableConfig),
    )
    ctx.bind_tenant(form.tenant_id)
    return form


async def load_published(ctx: Context, slug: str, request: Request) -> OpenForm:
    form = await load_by_slug(ctx, slug, request)
    if form.status is not FormStatus.published:
        raise FormNotFound
    return form


async def require_address_quota(
    ctx: Context, request: Request, name: str, limit: int, kind: type[RateLimited] = TooManySubmissions
) -> None:
    """Count a request of this network address against a limit per minute."""
    await require_quota(ctx, request, f"{name}:{limit_address(request.ip_address)}", limit, kind)


async def require_quota(
    ctx: Context, request: Request, key: str, limit: int, kind: type[RateLimited] = TooManySubmissions
) -> None:
    decision = await ctx.instance.limiter.hit_window(key, limit, 60)
    if not decision.allowed:
        request.limit_headers = decision.headers()
        raise decision.refusal(kind)


def require_accepting(ctx: Context, form: OpenForm) -> None:
    if form.status is not FormStatus.published:
        raise FormNotPublished
    if form.rules.close_at is not None and form.rules.close_at <= ctx.now:
        raise FormClosed
