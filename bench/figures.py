import base64
import os
from dataclasses import dataclass

# One root key for the whole run: the PostgreSQL database outlives the data dirs of its servers.
KEY = {"RETINUE_MASTER_KEY": base64.b64encode(os.urandom(32)).decode()}


@dataclass(frozen=True)
class Figure:
    """One measured number and the most it should be."""

    name: str
    value: float
    unit: str
    goal: float


@dataclass(frozen=True)
class Ratio:
    """What something costs us and what it costs at least, in microseconds of CPU."""

    name: str
    ours: float
    bare: float
    goal: float
    alarm: float
