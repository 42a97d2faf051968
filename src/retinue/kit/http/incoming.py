"""What the client sent, read within its limits before anything else happens."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from retinue.kit.errors import Invalid, InvalidJson, UnsupportedMediaType
from retinue.kit.http.bodies import check_json_shape, read_body
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route
from retinue.kit.http.uploads import FormData, read_form
from retinue.kit.validation import field_errors


class Content:
    __slots__ = ("body", "form")

    def __init__(self, body: bytes = b"", form: FormData | None = None) -> None:
        self.body = body
        self.form = form

    @property
    def digest(self) -> str:
        return self.form.body_sha256 if self.form else hashlib.sha256(self.body).hexdigest()

    def discard(self) -> None:
        if self.form is not None:
            self.form.discard()


_NOTHING = Content()


async def receive(request: Request, route: Route, spool_dir: Path) -> Content:
    content_type = _content_type(request)
    if route.upload is not None:
        form = await read_form(
            request.receive,
            content_type or b"",
            spool_dir=spool_dir,
            max_total=route.upload.max_total,
            max_file=route.upload.max_file,
            max_files=route.upload.max_files,
        )
        return Content(form=form)
    if route.body is None:
        return _NOTHING
    if content_type is not None and not _is_json(content_type):
        raise UnsupportedMediaType("Send application/json.")
    body = await read_body(request.receive, route.body_limit, request.headers.get(b"content-length"))
    return Content(body or b"{}")


def _content_type(request: Request) -> bytes | None:
    """What the body says it is; two answers to that are none."""
    headers = request.scope["headers"]
    if len(headers) > len(request.headers) and sum(name == b"content-type" for name, _ in headers) > 1:
        raise UnsupportedMediaType("Send one Content-Type.")
    return request.headers.get(b"content-type")


def _is_json(content_type: bytes) -> bool:
    media_type = content_type.partition(b";")[0].strip().lower()
    return media_type == b"application/json" or media_type.endswith(b"+json")


def decode_query(request: Request, target: Any) -> Any:
    raw = request.query() if request.query_string else {}
    try:
        query = msgspec.convert(raw, target, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, raw, target, strict=False)) from error
    # Read leniently, the text `null` is nothing at all: a filter would be dropped without a word.
    names = zip(target.__struct_encode_fields__, target.__struct_fields__, strict=True)
    dropped = [sent for sent, name in names if sent in raw and getattr(query, name) is None]
    if dropped:
        raise Invalid(dict.fromkeys(dropped, "must not be null"))
    return query


def decode_body(route: Route, body: bytes) -> Any:
    check_json_shape(body, max_keys=route.max_keys)
    try:
        return route.body_decoder(body)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, _decoded(body), route.body)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error
