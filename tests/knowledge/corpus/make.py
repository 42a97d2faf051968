"""Write the corpus: handbooks, house rules and questions, the same every time.

python -m tests.knowledge.corpus.make
"""

import json
import random
import tomllib
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent / "texts"
RULES = "house-rules.md"
QUESTIONS = "questions.json"
PARAPHRASES, CODES = 52, 32


class Product(msgspec.Struct, frozen=True):
    name: str
    type: str
    also: str

    @property
    def file(self) -> str:
        return f"{self.name.lower().replace(' ', '-')}.md"


class Aspect(msgspec.Struct, frozen=True):
    heading: str
    bounds: tuple[tuple[int, int], tuple[int, int]]
    code: str
    wordings: tuple[str, ...]
    asked: str
    asked_by_code: str


class Policy(msgspec.Struct, frozen=True):
    heading: str
    text: str
    asked: str


class Source(msgspec.Struct, frozen=True):
    products: tuple[Product, ...]
    aspects: tuple[Aspect, ...]
    policies: tuple[Policy, ...]


SOURCE = msgspec.convert(tomllib.loads((Path(__file__).parent / "source.toml").read_text()), Source)


def sections() -> dict[tuple[str, str], str]:
    """The text of each section, by the name of its file and its heading."""
    found = {
        (product.file, aspect.heading): write_section(aspect, product)
        for product in SOURCE.products
        for aspect in SOURCE.aspects
    }
    return found | {(RULES, policy.heading): policy.text for policy in SOURCE.policies}


def draw_details(aspect: Aspect, product: Product) -> dict[str, Any]:
    """Return the numbers, the code and the wording of one product."""
    chance = random.Random(f"{product.name}/{aspect.heading}")
    a, b = (chance.randint(lowest, highest) for lowest, highest in aspect.bounds)
    place = SOURCE.products.index(product)
    digits = 1000 + (place * 211 + len(aspect.heading) * 37) % 9000
    code = aspect.code.format(digits=digits, letter="ABCDEFGHKLMNPRST"[place % 16], a=a, b=b)
    return {"a": a, "b": b, "code": code, "wording": chance.choice(aspect.wordings)}


def write_section(aspect: Aspect, product: Product) -> str:
    details = draw_details(aspect, product)
    return str(details["wording"].format(name=product.name, type=product.type, **details))


def questions() -> list[dict[str, str]]:
    """Each with the file and the heading of the one section that answers it."""
    chance = random.Random("questions")
    pairs = [(product, aspect) for product in SOURCE.products for aspect in SOURCE.aspects]
    asked = [_question("paraphrase", one.asked, RULES, one.heading) for one in SOURCE.policies]
    for product, aspect in chance.sample(pairs, PARAPHRASES):
        question = aspect.asked.format(also=product.also)
        asked.append(_question("paraphrase", question, product.file, aspect.heading))
    coded = [(product, aspect) for product, aspect in pairs if aspect.asked_by_code]
    for product, aspect in chance.sample(coded, CODES):
        question = aspect.asked_by_code.format(code=draw_details(aspect, product)["code"])
        asked.append(_question("code", question, product.file, aspect.heading))
    return asked


def _question(kind: str, question: str, file: str, heading: str) -> dict[str, str]:
    return {"kind": kind, "question": question, "file": file, "heading": heading}


def files() -> dict[str, str]:
    """Every file of the corpus, by its name."""
    made: dict[str, list[str]] = {RULES: ["# House rules of Halden & Rooke\n"]}
    for product in SOURCE.products:
        made[product.file] = [f"# {product.name} {product.type}: handbook\n"]
    for (file, heading), text in sections().items():
        made[file].append(f"## {heading}\n\n{text}\n")
    texts = {file: "\n".join(parts) for file, parts in made.items()}
    return {**texts, QUESTIONS: json.dumps(questions(), indent=1, ensure_ascii=False) + "\n"}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, text in files().items():
        (HERE / name).write_text(text)


if __name__ == "__main__":
    main()
