"""Values that would leave their segment of a path."""

ESCAPES = [
    "../../admin",
    "..%2f..%2fadmin",
    "%2e%2e/admin",
    "//evil.example/",
    "https://evil.example/x",
    "@evil.example",
    ":8080@evil.example",
    "?x=#",
    "a?b=c&d#e",
    "a/b\\c",
    "x\r\nHost: evil.example",
    "x HTTP/1.1\r\n\r\nGET /admin",
    "ä{id}%00 ",
    "{other}",
    ";a=b",
]
