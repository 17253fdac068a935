"""The command: ``conformance``, or ``python -m responses_conformance``."""

import signal
import sys
from typing import NoReturn

from ._native import main as run


def main() -> NoReturn:
    # The command ends by itself on Ctrl-C; Python's handler would wait until it returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(["conformance", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
