"""Path parameters of the documentation and the API reference for the contract tests."""

from tests.contract.knowledge import DomainContract

CONTRACT = DomainContract(
    values={
        "asset": ["reference.js", "reference-schemas.js", "reference.css"],
        "folder": ["guides", "reference"],
        "page": ["chat.md", "settings.md"],
    }
)
