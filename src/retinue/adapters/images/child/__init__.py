"""The process that decodes one picture: it imports what it needs, locks itself down, then reads the file.

The server must not import this package, and it imports nothing of the server but the lockdown.
"""
