"""Checks streams of the Responses API, Messages, Chat Completions and Gemini.

>>> from responses_conformance import Checker
>>> checker = Checker("openai")
>>> found = checker.push(b'event: response.in_progress\\ndata: {"type":"response.in_progress","sequence_number":0}\\n\\n')
>>> found[0].rule
'schema/event-valid'
"""

from ._assert import assert_conformant, assert_conformant_async
from ._check import check
from ._gateway import Gateway
from ._native import CheckedTable, Checker, Finding, Report, Run, __version__, check_arrow, dialects

__all__ = [
    "CheckedTable",
    "Checker",
    "Finding",
    "Gateway",
    "Report",
    "Run",
    "__version__",
    "assert_conformant",
    "assert_conformant_async",
    "check",
    "check_arrow",
    "dialects",
]
