"""List prices of models: data that ships with a release (`prices.json`, written by `make prices`).

Prices are in US dollars per million tokens; speech costs by characters, a transcription by time. A file of
the same form in the data directory replaces ours if it is newer: `retinue models prices update` puts it
there.
"""

import re
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec

FILE_NAME = "model-prices.json"
"""The name of a newer list in the data directory."""

Price = Decimal


class TokenPrices(msgspec.Struct, frozen=True, kw_only=True):
    """Prices of a million tokens; an absent price is that of `input`."""

    input: Price
    output: Price | None = None
    cached_input: Price | None = None
    cache_write: Price | None = None
    cache_write_1h: Price | None = None


class PriceTier(TokenPrices, frozen=True, kw_only=True):
    """The prices of a whole call whose prompt has more tokens than `above`."""

    above: int


class ListPrice(TokenPrices, frozen=True, kw_only=True):
    """The price of a model, by its id, its other names, and a pattern for the rest of them.

    `speech` is what a million characters cost that are spoken, `transcription` what a minute of sound costs.
    """

    id: str
    names: tuple[str, ...] = ()
    pattern: str = ""
    tiers: tuple[PriceTier, ...] = ()
    speech: Price | None = None
    transcription: Price | None = None

    def for_prompt(self, prompt_tokens: int) -> TokenPrices:
        """Return the prices of a call with a prompt of this length."""
        reached = [tier for tier in self.tiers if prompt_tokens > tier.above]
        return reached[-1] if reached else self


class PriceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A list of prices, and the day on which they were in force."""

    as_of: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    source: str
    providers: dict[str, tuple[ListPrice, ...]]


def shipped_prices() -> PriceFile:
    return read_prices(resources.files(__package__).joinpath("prices.json").read_bytes())


def read_prices(content: bytes) -> PriceFile:
    """Read a list; raise `ValueError` if it is not one."""
    return msgspec.json.decode(content, type=PriceFile)


class ListPrices:
    """The list of this process, read at its first use: ours, or a newer one in the data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._newer_file = data_dir / FILE_NAME
        self._file: PriceFile | None = None
        self._by_name: dict[tuple[str, str], ListPrice] = {}
        self._found: dict[tuple[str, str], ListPrice | None] = {}

    @property
    def file(self) -> PriceFile:
        if self._file is None:
            self._file = self._read()
            for provider, listed in self._file.providers.items():
                for price in listed:
                    for name in (price.id.lower(), *price.names):
                        self._by_name.setdefault((provider, name), price)
        return self._file

    def _read(self) -> PriceFile:
        shipped = shipped_prices()
        try:
            newer = read_prices(self._newer_file.read_bytes())
        except (OSError, ValueError):
            return shipped
        return newer if newer.as_of > shipped.as_of else shipped

    def find(self, provider: str, name: str) -> ListPrice | None:
        key = provider, name
        if key not in self._found:
            if len(self._found) >= _MAX_FOUND:
                self._found.clear()
            self._found[key] = self._search(provider, name.lower())
        return self._found[key]

    def _search(self, provider: str, name: str) -> ListPrice | None:
        listed = self.file.providers.get(provider, ())
        if (price := self._by_name.get((provider, name))) is not None:
            return price
        return next((one for one in listed if one.pattern and re.search(one.pattern, name)), None)


# Names come from agents, so a tenant could otherwise fill the memory.
_MAX_FOUND = 4096
