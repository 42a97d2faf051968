"""Traces: what a unit of work did, as spans, stored as one row in the transaction that ends it (ADR 28)."""
