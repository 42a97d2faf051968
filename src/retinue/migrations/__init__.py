"""Bringing a database to the current schema; one Alembic tree for SQLite and PostgreSQL."""
