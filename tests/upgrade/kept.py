"""The content of the kept databases, written by `scripts/kept_database.py` and expected by the suite."""

from pathlib import Path

FOLDER = Path(__file__).parent
KEPT_AT = 1_794_900_000.0
"""The time of every row in them."""
KEPT_KEY = "Vh2kq0l9m1r7c3x5t8w4y6z0b2d4f6h8j1k3n5p7q9s="
"""Their master key; it protects nothing but made-up values."""
KEPT_EMAIL = "kept@example.com"
KEPT_CREDENTIAL = "Kept credential"
KEPT_SECRET = "sk-kept-4f9a01d2c7"
