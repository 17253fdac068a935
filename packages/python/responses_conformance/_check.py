"""Checks one recording."""

import os

from ._native import Report, Run


def check(recording: str | os.PathLike[str] | bytes, *, dialect: str = "auto", name: str | None = None) -> Report:
    """Checks a recording of any format: the path of a file, or its bytes.

    Without a dialect, that of each stream is recognised by its URL, headers, request and first event.

    OSError: the file cannot be opened.
    """
    return Run(dialect).check(recording, name=name)
