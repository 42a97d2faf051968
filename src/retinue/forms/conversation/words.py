"""The few words that mean something whatever is asked, in the languages most visitors speak."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


YES = _words(
    "yes y yep yeah yup ok okay sure true on correct right confirm confirmed submit send "
    "ja jo jawohl richtig stimmt oui si sí vale claro"
)
NO = _words("no n nope nah false off not wrong nein nö non")
SKIP = frozenset(
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
BACK = frozenset(("back", "go back", "previous", "undo", "zurück", "retour", "atrás", "volver"))
EVERYTHING = frozenset(("all", "all of them", "everything", "alle", "tout", "todos"))
CHANGE = ("change", "correct", "update", "edit", "fix", "redo", "set", "ändere", "korrigiere")
BETWEEN = ("should be", "must be", "to be", "is", "to", "as", "ist", "auf", "zu", "=", ":")
OPENERS = ("no", "actually", "sorry", "please", "oh", "and", "my", "the", "bitte", "nein", "mein", "meine")
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(_COUNTED.split(" "))}
MONTHS = {
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
DAYS = {
    "today": 0,
    "heute": 0,
    "tomorrow": 1,
    "morgen": 1,
    "yesterday": -1,
    "gestern": -1,
}

_BLANK = " \t\n\r\f\v\N{NO-BREAK SPACE}"
_BEFORE = f"{_BLANK}\"'“”«»(["
_AFTER = f"{_BLANK}\"'“”«».!?,;:)]"


def plain(text: str) -> str:
    """In small letters, without what stands around it."""
    return " ".join(text.lstrip(_BEFORE).rstrip(_AFTER).split()).casefold()


def yes_or_no(text: str) -> bool | None:
    """What an answer begins with: `yes, please` is a yes, and `not sure` is neither."""
    said = plain(text)
    if said in YES:
        return True
    if said in NO:
        return False
    first, _, rest = said.partition(" ")
    first = first.rstrip(",.!")
    is_short = len(rest.split()) <= 3
    if is_short and first in YES - {"on", "right", "si"}:
        return True
    if is_short and first in NO - {"not", "off", "n"}:
        return False
    return None
