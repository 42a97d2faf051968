class Refusal(Exception):
    """The file is not read; the code is one of `errors.py`, the message is for who sent it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
