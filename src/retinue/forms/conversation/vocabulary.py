"""Words with a fixed meaning in any conversation, in several languages."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


YES_WORDS = _words(
    "yes y yep yeah yup ok okay sure true on correct right confirm confirmed submit send "
    "ja jo jawohl richtig stimmt oui si sí vale claro"
)
NO_WORDS = _words("no n nope nah false off not wrong nein nö non")
SKIP_PHRASES = frozenset(
    (
        "skip",
        "skip it",
        "skip this",
        "skip that",
        "pass",
        "next",
        "no answer",
        "none",
        "n/a",
        "überspringen",
        "weiter",
        "passer",
        "omitir",
        "saltar",
    )
)
BACK_PHRASES = frozenset(("back", "go back", "previous", "undo", "zurück", "retour", "atrás", "volver"))
ALL_WORDS = frozenset(("all", "all of them", "everything", "alle", "tout", "todos"))
CHANGE_VERBS = ("change", "correct", "update", "edit", "fix", "redo", "set", "ändere", "korrigiere")
VALUE_CONNECTORS = ("should be", "must be", "to be", "is", "to", "as", "ist", "auf", "zu", "=", ":")
FILLER_WORDS = (
    "no",
    "actually",
    "sorry",
    "please",
    "oh",
    "and",
    "my",
    "the",
    "bitte",
    "nein",
    "mein",
    "meine",
)
_NUMBER_NAMES = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: number for number, word in enumerate(_NUMBER_NAMES.split(" "))}
MONTH_NAMES = {
    name: number
    for number, names in enumerate(
        (
            "january januar jan",
            "february februar feb",
            "march märz mar mär",
            "april apr",
            "may mai",
            "june juni jun",
            "july juli jul",
            "august aug",
            "september sep sept",
            "october oktober oct okt",
            "november nov",
            "december dezember dec dez",
        ),
        1,
    )
    for name in names.split()
}
RELATIVE_DAYS = {
    "today": 0,
    "heute": 0,
    "tomorrow": 1,
    "morgen": 1,
    "yesterday": -1,
    "gestern": -1,
}

_BLANK = " \t\n\r\f\v\N{NO-BREAK SPACE}"
_LEADING_PUNCTUATION = f"{_BLANK}\"'“”«»(["
_TRAILING_PUNCTUATION = f"{_BLANK}\"'“”«».!?,;:)]"


def normalize(text: str) -> str:
    """Return the text case-folded, without surrounding punctuation."""
    return " ".join(text.lstrip(_LEADING_PUNCTUATION).rstrip(_TRAILING_PUNCTUATION).split()).casefold()


def parse_yes_no(text: str) -> bool | None:
    """Return whether the text begins with yes or no: `yes, please` is a yes, `not sure` is neither."""
    answer = normalize(text)
    if answer in YES_WORDS:
        return True
    if answer in NO_WORDS:
        return False
    first, _, rest = answer.partition(" ")
    first = first.rstrip(",.!")
    is_short = len(rest.split()) <= 3
    if is_short and first in YES_WORDS - {"on", "right", "si"}:
        return True
    if is_short and first in NO_WORDS - {"not", "off", "n"}:
        return False
    return None
