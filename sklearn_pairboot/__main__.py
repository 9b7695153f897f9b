"""Run the command line as ``python -m sklearn_pairboot``."""

import sys

from sklearn_pairboot.cli import main

if __name__ == "__main__":
    sys.exit(main())
