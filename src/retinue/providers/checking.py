"""Testing a key: its provider is asked which models the key may use."""

from typing import Any

import sqlalchemy as sa

from retinue.adapters.llm import ModelError, Timeouts, provider_for
from retinue.credentials.errors import CredentialUnusable
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.redaction import Redactor
from retinue.providers import breakers
from retinue.providers.addresses import is_usable
from retinue.providers.events import ApiKeyInvalidated
from retinue.providers.models import ProviderKey
from retinue.providers.schemas import MODEL_NAME_LENGTH, ApiKeyTest
from retinue.providers.secrets import REFUSALS, opened

_TIMEOUTS = Timeouts(first_byte_s=15, between_chunks_s=15, total_s=30)
_MOST_MODELS = 2000
_FAILURES = (*REFUSALS, EgressRefused, ModelError)

_keys = ProviderKey.__table__
# Only what was tested: a key that was changed in the meantime is another.
_tested = sa.update(_keys).where(
    _keys.c.id == sa.bindparam("key_id"), _keys.c.updated_at == sa.bindparam("seen_at")
)
_PASSED: Statement[Any] = Statement(
    _tested.values(
        is_valid=True,
        last_tested_at=sa.bindparam("now"),
        found_models=sa.bindparam("found", type_=_keys.c.found_models.type),
    )
)
_FAILED: Statement[Any] = Statement(_tested.values(is_valid=False, last_tested_at=sa.bindparam("now")))


async def test(ctx: Context, key: ProviderKey) -> ApiKeyTest:
    """Ask the provider, and keep what came of it; no transaction is open while it thinks."""
    started = ctx.clock.monotonic()
    models: list[str] = []
    problem = ""
    try:
        models = await _ask(ctx, key)
    except _FAILURES as error:
        problem = error.message
    latency_ms = round((ctx.clock.monotonic() - started) * 1000)
    await _keep(ctx, key, models, problem)
    message = problem or f"The key works, for {len(models)} models."
    return ApiKeyTest(success=not problem, message=message, latency_ms=latency_ms, models=models)


async def _ask(ctx: Context, key: ProviderKey) -> list[str]:
    if not is_usable(key):
        raise CredentialUnusable("There is nothing to ask with: no key, or no such model on this instance.")
    access = await opened(ctx, key, {})
    redactor = Redactor([access.api_key.reveal()])
    with redactor.guarding_logs():
        found = await provider_for(ctx.adapter(Egress), access, timeouts=_TIMEOUTS).models()
    names = sorted({redactor.text(model.id) for model in found})
    usable = [name for name in names if 0 < len(name) <= MODEL_NAME_LENGTH and name.isprintable()]
    return usable[:_MOST_MODELS]


async def _keep(ctx: Context, key: ProviderKey, models: list[str], problem: str) -> None:
    async with ctx.unit() as unit:
        seen = {"key_id": key.id, "seen_at": key.updated_at, "now": unit.now}
        if not problem:
            breakers.forget(key.id)
            await unit.db.execute(_PASSED, **seen, found=models)
        elif await unit.db.execute(_FAILED, **seen) and key.is_valid:
            unit.emit(
                ApiKeyInvalidated(api_key_id=key.id, name=key.name, provider=key.provider, reason=problem)
            )
