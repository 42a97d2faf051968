"""A small shop to follow the tutorial with: a page for customers, and a REST API that wants a token.

Run `python3 shop.py`. It needs nothing but Python and forgets its refunds when it stops.
"""
# ruff: noqa: INP001

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ACCEPTED = "lamp-shop-token-2026"
PAGE = Path(__file__).with_name("index.html")
ORDERS = {
    "10482": {"order": "10482", "item": "Desk lamp", "amount": 89, "currency": "EUR", "status": "delivered"},
    "10483": {
        "order": "10483",
        "item": "Floor lamp",
        "amount": 240,
        "currency": "EUR",
        "status": "on its way",
    },
}
REFUNDS: list[dict[str, object]] = []


class Shop(BaseHTTPRequestHandler):
    """`GET /` is the page; `GET /orders/<number>`, `GET /refunds` and `POST /refunds` are the API."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            self._send(200, PAGE.read_bytes(), "text/html; charset=utf-8")
        elif not self._has_token():
            self._send_json(401, {"error": "The token is missing or wrong."})
        elif path == "/refunds":
            self._send_json(200, REFUNDS)
        elif (order := ORDERS.get(path.removeprefix("/orders/"))) is not None:
            self._send_json(200, order)
        else:
            self._send_json(404, {"error": "There is no such order."})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self._has_token():
            self._send_json(401, {"error": "The token is missing or wrong."})
        elif self.path != "/refunds":
            self._send_json(404, {"error": "Refunds are made at /refunds."})
        else:
            asked = json.loads(content)
            REFUNDS.append({"order": asked["order"], "amount": asked["amount"], "status": "paid"})
            self._send_json(201, REFUNDS[-1])

    def _has_token(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {ACCEPTED}"

    def _send_json(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: int, content: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    print(f"The shop is at http://localhost:{port}/ and its API wants the token {ACCEPTED}", flush=True)  # noqa: T201
    ThreadingHTTPServer(("127.0.0.1", port), Shop).serve_forever()
