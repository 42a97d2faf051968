"""How much a model reasons: the values that each model accepts for it, and the nearest one to a wish."""

import re
from collections.abc import Mapping

from retinue.adapters.llm.messages import ReasoningEffort

_Levels = tuple[ReasoningEffort, ...]
_NONE, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH = ReasoningEffort
_LOW_TO_HIGH: _Levels = (_LOW, _MEDIUM, _HIGH)

_OPENAI = (
    (re.compile(r"o\d"), _LOW_TO_HIGH),
    (re.compile(r"gpt-5(?![.\d])(?!.*-chat)"), (_MINIMAL, *_LOW_TO_HIGH)),
    (re.compile(r"gpt-5\.1(?!\d)(?!.*-chat)"), (_NONE, *_LOW_TO_HIGH)),
    (re.compile(r"gpt-(?:[5-9]|1\d)(?!.*-chat)"), (_NONE, *_LOW_TO_HIGH, _XHIGH)),
)
# Models with open weights; a namespace may stand before the name.
_OPEN = (
    (re.compile(r"(?:.*/)?gpt-oss"), _LOW_TO_HIGH),
    (
        re.compile(r"(?:.*/)?(?:qwen-?3|deepseek-(?:r\d|v3\.[1-9]|v[4-9])|magistral|glm-(?:4\.[5-9]|[5-9]))"),
        (_NONE, *_LOW_TO_HIGH),
    ),
)
_LEVELS: Mapping[str, tuple[tuple[re.Pattern[str], _Levels], ...]] = {
    "openai": _OPENAI,
    "azure_openai": _OPENAI,
    "anthropic": (
        # `none` asks for nothing, because Claude reasons only when told to.
        (re.compile(r"claude-(?:opus-4-[56]|sonnet-4-6)(?!\d)"), (_NONE, *_LOW_TO_HIGH)),
        (
            re.compile(r"claude-(?!\d|instant)(?!(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-20\d{6}|-latest)?$)"),
            (_NONE, *_LOW_TO_HIGH, _XHIGH),
        ),
    ),
    "google": (
        (re.compile(r"gemini-2\.5-flash"), (_NONE, *_LOW_TO_HIGH)),
        (re.compile(r"gemini-2\.5"), _LOW_TO_HIGH),
        (re.compile(r"gemini-[3-9]"), (_MINIMAL, *_LOW_TO_HIGH)),
    ),
    "groq": _OPEN[:1],
    "bedrock": _OPEN[:1],
    "openrouter": ((re.compile(""), tuple(ReasoningEffort)),),
    "ollama": _OPEN,
    "openai_compatible": (*_OPENAI, *_OPEN),
}


def accepted_effort(provider: str, model: str, requested_effort: ReasoningEffort) -> ReasoningEffort | None:
    """Return the value nearest to the wanted one that the model accepts, rather a higher one.

    None if it accepts no value at all.
    """
    for pattern, levels in _LEVELS.get(provider, ()):
        if pattern.match(model):
            return min(levels, key=lambda level: (abs(_rank(level) - _rank(requested_effort)), -_rank(level)))
    return None


def _rank(effort: ReasoningEffort) -> int:
    return list(ReasoningEffort).index(effort)
