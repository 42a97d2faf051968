"""The headers that a caller adds to the requests of a stream or an exporter."""

from typing import Annotated

from msgspec import Meta

from retinue.kit.schema.messages import PatternMessage

HeaderName = Annotated[
    str,
    Meta(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9-]+$(?!\n)"),
    PatternMessage("must be the name of a header: letters, digits and hyphens"),
]
# Visible ASCII, or the mask of a value that was given before.
HeaderValue = Annotated[
    str,
    Meta(max_length=4_096, pattern=r"^([\x20-\x7e]*|\u2022+)$(?!\n)"),
    PatternMessage("must be printable ASCII characters"),
]
