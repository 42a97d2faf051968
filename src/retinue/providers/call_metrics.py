"""The metrics of a call to a model."""

from types import TracebackType

from retinue.adapters.llm import ModelError
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.metrics import declarations as metrics
from retinue.usage.price_book import load_price_book


class observed_call:  # noqa: N801  used as a function: `async with observed_call(ctx, model):`
    """Count a call to a model and its time; the outcome is `success`, `cancelled` or the kind of its error.

    `model` is `provider/model`.
    """

    def __init__(self, ctx: Context, model: str) -> None:
        self._ctx, self._model = ctx, model
        self._began = 0.0

    async def __aenter__(self) -> None:
        if metrics.MODEL_CALLS.is_on:
            self._began = self._ctx.clock.monotonic()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not metrics.MODEL_CALLS.is_on:
            return
        provider, model = (await load_price_book(self._ctx)).metric_labels(self._model)
        metrics.MODEL_CALLS.count(provider, model, _outcome(kind, error))
        metrics.MODEL_CALL_DURATION.observe(self._ctx.clock.monotonic() - self._began, provider)


def _outcome(kind: type[BaseException] | None, error: BaseException | None) -> str:
    if kind is None:
        return "success"
    if isinstance(error, ModelError):
        return error.kind
    return "error" if isinstance(error, RetinueError | ValueError) else "cancelled"
