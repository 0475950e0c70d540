"""The package under `python -m numbus`. Its names are loaded when one of them is first asked for,
so that a script that needs no arrays begins as fast as under `python`.

`import numbus` elsewhere loads all at once.
"""

import _signal
import _thread
import gc
import sys
import types

_IS_LIGHT = frozenset(
    "_late _loops _namespace __main__ compat compat.clock compat.importing compat.kinds "
    "compat.loader compat.packages compat.rewrite compat.runner compat.spawn compat.timing "
    "loops loops.again loops.background loops.complexes loops.functions loops.gains "
    "loops.generators loops.heads loops.held loops.kept loops.loop loops.made_lists loops.marks "
    "loops.methods loops.narrow loops.native loops.numbers loops.pools loops.report "
    "loops.rewrite loops.run loops.select loops.singles loops.sources loops.static loops.trees "
    "loops.values".split()
)
_OWN = "__version__", "__all__", "__array_api_version__", "__array_namespace_info__"
_PACKAGE = __package__
_lock = None  # while names wait to be loaded
_is_loading = _runs = False
_hooks = []
_of_program = set()  # folders
_spare = []  # objects that are given back when modules have been loaded
_SPARE = 4000  # of them: what loading what enters loops makes
_MAIN = _thread.get_ident()


def is_runner():
    """Whether the package is imported for `python -m numbus`."""
    given = sys.orig_argv
    if sys.argv[:1] != ["-m"] or _PACKAGE not in given[1:]:
        return False
    # What comes before are options of Python's, of which those with a value may have it apart.
    k = given.index(_PACKAGE)
    return given[k - 1] == "-m"


class _Waiting(types.ModuleType):
    """The module as it is until a name is asked for that it does not have yet."""

    def __getattr__(self, name):
        # `from . import name` asks before it imports a module; others ask each module that there
        # is, such as unittest for __warningregistry__.
        if name in _IS_LIGHT or (name.startswith("__") and name not in _OWN):
            raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}", name=name)
        load()
        own = vars(self)
        if name in own:
            return own[name]
        if "__getattr__" not in own:  # asked by what is being loaded
            raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}", name=name)
        return own["__getattr__"](name)

    def __dir__(self):
        load()
        return vars(self)["__dir__"]()


class _Finder:
    """Asked first for each module: those of the package that are not light need all others."""

    def find_spec(self, name, path=None, target=None):
        """None, as others find it."""
        package, _, inner = name.partition(".")
        if package == _PACKAGE and inner not in _IS_LIGHT:
            load()
        return None


def wait(package):
    """Has the names of the package loaded later."""
    global _lock
    import _thread

    _lock = _thread.RLock()
    package.__class__ = _Waiting
    sys.meta_path.insert(0, _Finder())


def is_loaded():
    """Whether the package has its names."""
    return _lock is None


def when_loaded(function):
    """Calls a function once the package has its names, now if it has."""
    if _lock is None:
        function()
    else:
        _hooks.append(function)


def load():
    """Loads the names of the package."""
    global _lock, _is_loading
    lock = _lock
    if lock is None:
        return
    with lock:  # a second thread waits until all are there
        if _lock is None or _is_loading:
            return
        _is_loading = True
        try:
            with _OwnPath(), _NotCollected():
                __import__(f"{_PACKAGE}._namespace")
            while _hooks:
                _hooks.pop(0)()
            sys.meta_path[:] = [f for f in sys.meta_path if type(f) is not _Finder]
            sys.modules[_PACKAGE].__class__ = types.ModuleType
            _lock = None
        finally:
            _is_loading = False


class _OwnPath:
    """Leaves the folders of the program out of sys.path, whose modules may be called as some of
    Python's are.
    """

    def __enter__(self):
        self._before = sys.path[:]
        sys.path[:] = [p for p in sys.path if p not in _of_program]

    def __exit__(self, *_):
        sys.path[:] = self._before


class _NotCollected:
    """Has nothing collected meanwhile; leaves what is made out of all later collections, where the
    program has made nothing yet, whose objects would stay with it.
    """

    def __enter__(self):
        self._collects = gc.isenabled()
        gc.disable()

    def __exit__(self, *_):
        if not _runs:
            gc.freeze()
        if self._collects:
            gc.enable()


class _InterruptedAfter:
    """Holds Ctrl-C back while modules are loaded and raises KeyboardInterrupt after that. Extension
    modules turn an exception that comes while they are initialised into an ImportError, which
    would hide the interrupt.
    """

    def __enter__(self):
        self._noted = False
        self._is_held = (
            _thread.get_ident() == _MAIN
            and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
        )
        if self._is_held:
            _signal.signal(_signal.SIGINT, self._note)

    def _note(self, *_):
        self._noted = True

    def __exit__(self, *_):
        if self._is_held:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        if self._noted:
            raise KeyboardInterrupt


def note_start():
    """Notes that the program begins."""
    global _runs
    _runs = True


def freeze():
    """Leaves what there is out of later collections. Objects that are given back later make up for
    those that are made while modules are loaded in the middle of the program, so that no collection
    of its objects comes sooner than under `python`.
    """
    _spare[:] = [[] for _ in range(_SPARE)]
    gc.freeze()


def note_folder(folder):
    """Notes that modules in a folder are the program's."""
    _of_program.add(folder)


def load_aside(name=None):
    """Loads a module, or the names of the package, in the middle of the program, which sees nothing
    of it; whether it could.
    """
    import warnings

    try:
        with _InterruptedAfter(), warnings.catch_warnings(), _OwnPath(), _NotCollected():
            warnings.simplefilter("ignore")
            if name is None:
                load()
            else:
                __import__(name)
                _spare.clear()
    except Exception:
        return False
    return True
