"""Subjects and recipients that would add a header to a mail."""

BREAKS = ["\r\n", "\n", "\r", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\ud800"]

SUBJECTS = [f"a{gap}Bcc: evil@example.net" for gap in BREAKS]

RECIPIENTS = [f"a@example.org{gap}Bcc: evil@example.net" for gap in BREAKS]
