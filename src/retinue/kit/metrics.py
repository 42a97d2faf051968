"""Prometheus counters of the HTTP layer, kept only when `RETINUE_METRICS` is on."""

from typing import Any


class Metrics:
    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter

        self.registry = CollectorRegistry()
        self._requests = Counter(
            "retinue_requests",
            "Responses by route and status",
            ["route", "method", "status"],
            registry=self.registry,
        )

    def count(self, request: Any, status: int) -> None:
        route = request.route.path if request.route else "unknown"
        self._requests.labels(route, request.method, str(status)).inc()

    def render(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self.registry)
