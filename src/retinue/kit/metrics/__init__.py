"""Prometheus metrics: declared in one table, counted by single calls, kept in files that processes share.

`from retinue.kit.metrics import declarations as metrics`, then `metrics.TOOL_EXECUTIONS.count(kind, status)`.
While `RETINUE_METRICS` is off, such a call returns after one check for None.
"""
