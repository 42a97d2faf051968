"""Benchmarks: server CPU time per request, ours beside a bare ASGI application with the same drivers."""
