"""`python -m numbus_cluster`: the command line."""

import sys

from numbus_cluster.cli import main

if __name__ == "__main__":
    sys.exit(main())
