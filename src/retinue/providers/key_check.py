"""Test of a provider key: lists the models the key may use."""

import sqlalchemy as sa

from retinue.adapters.llm import ModelError, Timeouts, provider_for
from retinue.credentials.errors import CredentialUnusable
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.text.redaction import Redactor
from retinue.providers.addresses import is_usable
from retinue.providers.circuit_breakers import CircuitBreakers
from retinue.providers.events import ApiKeyInvalidated
from retinue.providers.models import ProviderKey
from retinue.providers.schemas import MAX_MODEL_NAME_LENGTH, ApiKeyTest
from retinue.providers.secrets import ACCESS_REFUSALS, open_access

_TIMEOUTS = Timeouts(first_byte_s=15, between_chunks_s=15, total_s=30)
_MAX_MODELS = 2000
_CHECK_ERRORS = (*ACCESS_REFUSALS, EgressRefused, ModelError)

_keys = ProviderKey.__table__
# Only the tested secret: a key updated in the meantime is left alone.
_tested = sa.update(_keys).where(
    _keys.c.id == sa.bindparam("key_id"), _keys.c.updated_at == sa.bindparam("seen_at")
)
_PASSED = Statement(
    _tested.values(
        is_valid=True,
        last_tested_at=sa.bindparam("now"),
        found_models=sa.bindparam("found", type_=_keys.c.found_models.type),
    )
)
_FAILED = Statement(_tested.values(is_valid=False, last_tested_at=sa.bindparam("now")))


async def check_key(ctx: Context, key: ProviderKey) -> ApiKeyTest:
    """Test the key and store the outcome; no transaction is open during the call."""
    started = ctx.clock.monotonic()
    models: list[str] = []
    problem = ""
    try:
        models = await _load_models(ctx, key)
    except _CHECK_ERRORS as error:
        problem = error.message
    latency_ms = round((ctx.clock.monotonic() - started) * 1000)
    await _store_outcome(ctx, key, models, problem)
    message = problem or f"The key works and can use {len(models)} models."
    return ApiKeyTest(success=not problem, message=message, latency_ms=latency_ms, models=models)


async def _load_models(ctx: Context, key: ProviderKey) -> list[str]:
    if not is_usable(key):
        raise CredentialUnusable(
            "There is nothing to test: the key has no secret, or its provider is embedded."
        )
    access = await open_access(ctx, key, {})
    redactor = Redactor([access.api_key.reveal()])
    with redactor.guarding_logs():
        offered = await provider_for(ctx.adapter(Egress), access, ctx.clock, timeouts=_TIMEOUTS).models()
    names = sorted({redactor.text(model.id) for model in offered})
    usable = [name for name in names if 0 < len(name) <= MAX_MODEL_NAME_LENGTH and name.isprintable()]
    return usable[:_MAX_MODELS]


async def _store_outcome(ctx: Context, key: ProviderKey, models: list[str], problem: str) -> None:
    async with ctx.unit() as unit:
        seen = {"key_id": key.id, "seen_at": key.updated_at, "now": unit.now}
        if not problem:
            ctx.state(CircuitBreakers).forget_key(key.id)
            await unit.db.execute(_PASSED, **seen, found=models)
        elif await unit.db.execute(_FAILED, **seen) and key.is_valid:
            unit.emit(
                ApiKeyInvalidated(api_key_id=key.id, name=key.name, provider=key.provider, reason=problem)
            )
