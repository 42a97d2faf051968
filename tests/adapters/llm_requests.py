"""Requests that the tests of all providers' clients send."""

from retinue.adapters.llm import (
    ChatRequest,
    ForcedTool,
    ImageData,
    ImageUrl,
    ModelMessage,
    ResponseSchema,
    TextContent,
    ToolSpec,
)

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
GREETING = "Grüß Gott, 世界! 👩‍👩‍👧 It is a fine day."


def with_every_option(
    model: str,
    tool: ToolSpec,
    temperature: float,
    *,
    texts: tuple[str, ...],
    after: tuple[ModelMessage, ...] = (),
) -> ChatRequest:
    """Return a request with two pictures behind the texts, and every option."""
    pictures = (ImageUrl("https://x.example/a.png"), ImageData("image/png", "AAA"))
    looking = ModelMessage(role="user", content=(*map(TextContent, texts), *pictures))
    return ChatRequest(
        model=model,
        messages=(ModelMessage(role="system", content="Be brief."), looking, *after),
        tools=(tool,),
        tool_choice=ForcedTool(tool.name),
        temperature=temperature,
        top_p=0.9,
        max_tokens=50,
        stop=("END",),
        response_format=ResponseSchema("answer", PERSON),
    )
