"""What the contract tests know of the documentation and the API reference."""

from tests.contract.knowledge import DomainContract

CONTRACT = DomainContract(
    values={
        "asset": ["reference.js", "reference-schemas.js", "reference.css"],
        "folder": ["guides", "reference"],
        "page": ["chat.md", "settings.md"],
    }
)
