"""`python -m gradproof` does what the command `gradproof` does."""

import sys

from gradproof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
