class SheetRefused(Exception):
    """The file is rejected; the code is one of `errors.py`, the message is for the sender."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
