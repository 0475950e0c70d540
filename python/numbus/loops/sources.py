"""In which source each function of the program's stands."""

_sources = {}  # by the code of a function, rewritten or not: the source of its module


def note(code, source):
    """Notes in which source a function stands."""
    _sources[code] = source


def follow(rewritten, plain):
    """Notes that a code is that of a function whose source is known."""
    _sources[rewritten] = _sources[plain]


def of(code):
    """The source of the module in which a function stands, or None."""
    return _sources.get(code)


def is_noted(code):
    """Whether a function is one of the program's, whose source is known."""
    return code in _sources
