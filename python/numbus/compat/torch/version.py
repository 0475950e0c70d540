"""torch.version."""

__version__ = "2.11.0+numbus"
cuda = None
hip = None
debug = False
