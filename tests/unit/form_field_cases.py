"""Every type of form field with values it accepts and refuses."""

from typing import Any

AB = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]

FILE = "file_" + "a" * 26

# Type, validation and options; what is good, with what is kept of it where that differs; what is not.
CASES: list[tuple[str, dict[str, Any], list[Any], list[Any]]] = [
    ("text", {}, ["Ada", "x" * 10_000, "<script>", "{{a}}"], [7, True, ["a"], {"a": 1}, "x" * 10_001]),
    ("text", {"min_length": 2, "max_length": 3}, ["ab", "äöü"], ["a", "abcd"]),
    ("text", {"pattern": "[A-Z]{3}"}, ["ABC"], ["abc", "ABCD", "xABC"]),
    ("text", {"pattern": r"^\d+$"}, ["123"], ["12a", "1\n2"]),
    ("text", {"pattern": "(a+)+"}, ["aaa"], ["a" * 5000 + "b"]),
    ("textarea", {}, ["a\nb", "x" * 50_000], [1, "x" * 100_001]),
    ("textarea", {"min_length": 5, "max_length": 6}, ["hello"], ["hell", "hello!!"]),
    (
        "email",
        {},
        ["ada@example.com", (" ada@example.com ", "ada@example.com")],
        ["ada", "a@b", "a b@c.de", 1],
    ),
    ("email", {}, [], ["ada@example.com\nBcc: x@y.zz", "x" * 250 + "@a.de", "@a.de"]),
    ("phone", {}, ["+49 30 1234", "call me"], [49, "1" * 101]),
    ("phone", {"pattern": r"\+\d{7,15}"}, ["+4930123456"], ["030", "+49x"]),
    (
        "number",
        {},
        [1, -2.5, 0, ("42", 42), (" 1e3 ", 1000.0)],
        ["abc", "1,5", True, [1], "9" * 400, 10**400, "0x10", "nan"],
    ),
    ("number", {"min": 0, "max": 10, "step": 0.1}, [0.3, 10, 0], [-1, 10.1, 0.25]),
    ("number", {"min": 1, "step": 2}, [1, 3, 5], [2, 0]),
    ("slider", {"min": 0, "max": 100, "step": 5}, [0, 55, 100], [3, 105, "x"]),
    ("rating", {}, [1, 5, ("4", 4), (3.0, 3)], [0, 6, 2.5, "good", True]),
    ("rating", {"max": 10}, [10], [11, -1]),
    ("select", {"options": AB}, ["a", "b"], ["c", ["a"], {"value": "a"}, 1, "A"]),
    ("select", {"options": [1, 2]}, [1, ("2", 2)], [3, True]),
    ("radio", {"options": AB}, ["a"], ["c", ["a", "b"]]),
    (
        "multi_select",
        {"options": AB},
        [["a"], ["a", "b"], (["b", "b"], ["b"])],
        ["a", ["c"], ["a", 1], [["a"]]],
    ),
    ("multi_select", {"options": AB, "min_selections": 2}, [["a", "b"]], [["a"], ["a", "a"]]),
    ("multi_select", {"options": AB, "max_selections": 1}, [["a"]], [["a", "b"]]),
    ("checkbox_group", {"options": AB}, [["a", "b"]], ["a", ["x"], ["a"] * 1001]),
    ("checkbox", {}, [True, False, ("on", True), ("false", False), "agreed"], [1, ["a"], {}.keys]),
    (
        "date",
        {},
        ["2026-02-28"],
        ["2026-02-30", "28.02.2026", "2026-2-8", 20260228, "2026-02-28T10:00", "20260228"],
    ),
    (
        "date",
        {"min_date": "2026-01-01", "max_date": "2026-12-31"},
        ["2026-01-01", "2026-12-31"],
        ["2025-12-31", "2027-01-01"],
    ),
    (
        "datetime",
        {},
        ["2026-02-28T10:00", "2026-02-28T10:00:00Z", "2026-02-28 10:00:00+02:00"],
        ["2026-02-28", "10:00", "2026-02-28T25:00", 7, "x" * 50],
    ),
    (
        "datetime",
        {"min_date": "2026-01-01T00:00:00Z", "max_date": "2026-01-02"},
        ["2026-01-02T23:59"],
        ["2025-12-31T23:59", "2026-01-03T00:00"],
    ),
    (
        "file",
        {},
        [FILE, [FILE]],
        ["../../etc/passwd", "file_x", [FILE, FILE], {"filepath": "/etc/passwd"}, [7]],
    ),
    (
        "url",
        {},
        ["https://example.com/a?b#c", "http://x.de"],
        [
            "javascript:alert(1)",
            "//x.de",
            "x.de",
            "https://",
            "https://a b",
            "https://[",
            "https://[::1]x/",
            "ftp://x.de",
            "https://x\\y",
            "https://" + "x" * 2100,
        ],
    ),
    ("hidden", {}, ["x", " ", 7, True], [["a"], {"a": 1}, "x" * 10_001]),
    ("signature", {}, ["data:image/png;base64,AAAA", "x" * 300_000], [7, "ä" * 200_000]),
]
