"""`python -m numbus`: the runner of unmodified NumPy programs."""

import sys

from numbus.compat.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
