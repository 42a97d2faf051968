"""A form as submissions need it: read once a request, its rules compiled once for each of its texts."""

import re
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.forms.configuring import Rules, rules_of
from retinue.forms.errors import FormClosed, FormNotFound, FormNotPublished, TooManySubmissions
from retinue.forms.models import DataTableConfig, Form, FormStatus
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.errors import RateLimited
from retinue.kit.fields import Fields, compiled
from retinue.kit.http.request import Request, limit_address

LONGEST_SLUG = 80
GUESSES_PER_MINUTE = 120

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_forms = Form.__table__
_READ = ("id", "tenant_id", "name", "slug", "status", "version", "created_by", "workflow_id")
_OPEN: Statement[Any] = Statement(
    sa.select(
        *(_forms.c[name] for name in _READ), _forms.c.fields, _forms.c.settings, _forms.c.data_table_config
    ).where(_forms.c.slug == sa.bindparam("slug", type_=sa.Text()))
)


class OpenForm(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about a submission, whoever makes it."""

    id: str
    tenant_id: str
    name: str
    slug: str
    status: FormStatus
    version: int
    created_by: str
    workflow_id: str | None
    fields: Fields
    rules: Rules
    data_table_config: DataTableConfig | None

    @property
    def processes(self) -> bool:
        """Whether something becomes of a submission besides being kept."""
        return self.workflow_id is not None or self.saves_rows

    @property
    def saves_rows(self) -> bool:
        return self.data_table_config is not None and self.data_table_config.auto_save


def opened(form: Form) -> OpenForm:
    return OpenForm(
        **{name: getattr(form, name) for name in _READ},
        fields=compiled(json_text(form.fields)),
        rules=rules_of(json_text(form.settings)),
        data_table_config=form.data_table_config,
    )


async def open_slug(ctx: Context, slug: str, request: Request) -> OpenForm:
    """The form of a public address; the context acts in its tenant from now on.

    Whoever asks for slugs that nobody has runs out of guesses.
    """
    row = None
    if _SLUG.fullmatch(slug):
        row = await ctx.system("a slug says for itself which tenant it belongs to").first(_OPEN, slug=slug)
    if row is None:
        await charge(ctx, request, "forms", GUESSES_PER_MINUTE, RateLimited)
        raise FormNotFound
    *plain, fields, settings, config = row
    form = OpenForm(
        **dict(zip(_READ, plain, strict=True)) | {"status": FormStatus(plain[4])},
        fields=compiled(fields),
        rules=rules_of(settings),
        data_table_config=None if config is None else msgspec.json.decode(config, type=DataTableConfig),
    )
    ctx.act_in(form.tenant_id)
    return form


async def open_published(ctx: Context, slug: str, request: Request) -> OpenForm:
    form = await open_slug(ctx, slug, request)
    if form.status is not FormStatus.published:
        raise FormNotFound
    return form


async def charge(
    ctx: Context, request: Request, name: str, limit: int, kind: type[RateLimited] = TooManySubmissions
) -> None:
    """One more of what one address may do so often a minute."""
    await hit(ctx, request, f"{name}:{limit_address(request.ip_address)}", limit, kind)


async def hit(
    ctx: Context, request: Request, key: str, limit: int, kind: type[RateLimited] = TooManySubmissions
) -> None:
    limiter = ctx.instance.limiter
    if limiter.is_local:
        decision = limiter.hit_window_now(key, limit, 60)
    else:
        decision = await limiter.hit_window(key, limit, 60)
    if not decision.allowed:
        request.limit_headers = decision.headers()
        raise decision.refusal(kind)


def require_open(ctx: Context, form: OpenForm) -> None:
    if form.status is not FormStatus.published:
        raise FormNotPublished
    if form.rules.close_at is not None and form.rules.close_at <= ctx.now:
        raise FormClosed
