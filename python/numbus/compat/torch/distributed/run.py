"""torch.distributed.run, torchrun: numbus.dist.run."""

import sys

from ....dist.run import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
