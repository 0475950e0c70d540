"""What became of loops, for those who ask for a report: which were compiled, and which took time
and were not.
"""

import _thread
import sys
import time

_PERIOD = 5e-3  # seconds between two looks at the program
_SHARE = 0.05  # of the run, from which a loop is worth a line
_refused = []  # (file, first line, last line, why): loops that are not tried
_seen = {}  # (file, line): how often the program was found there
_looks = [0]
THREADS = [0]  # of ours, of which the program knows nothing


def note_refused(file, loop, why):
    """Notes a loop that is not tried."""
    _refused.append((file, loop.lineno, loop.end_lineno, why))


def start():
    """Has a thread look where the program is, from time to time."""
    THREADS[0] += 1
    _thread.start_new_thread(_watch, (_thread.get_ident(),))


def _watch(main):
    while True:
        time.sleep(_PERIOD)
        _looks[0] += 1
        frame = sys._current_frames().get(main)
        while frame is not None:
            place = frame.f_code.co_filename, frame.f_lineno
            _seen[place] = _seen.get(place, 0) + 1
            frame = frame.f_back


def _share(file, first, last):
    """The part of the run in which the program was between two lines."""
    seen = list(_seen.items())  # which the thread adds to
    found = sum(n for (f, line), n in seen if f == file and line and first <= line <= last)
    return min(1.0, found / max(_looks[0], 1))


def explain(told, this, held, code, how):
    """What nb.explain() says of one entry of compiled code."""
    told.append(f"loop {this.file}:{this.line} ran compiled, {how}")
    values = [(n, held.values[n]) for n in sorted(held.values)]
    kinds = [
        f"{n} {type(v).__name__}{f' {v.dtype}{list(v.shape)}' if getattr(v, 'ndim', 0) else ''}"
        for n, v in values
        if held.entry.get(n, held.fixed.get(n)) != "o"
    ]
    told.append(f"  values    {', '.join(kinds)}")
    told += [f"  {line}" for line in code.text] if told.ir else []


def lines(loops):
    """The lines of the report."""
    told, found = [], set()
    for this in loops:
        if this.entries:
            times = f"entered {this.entries}×, left early {this.exits}×"
            told.append(f"      {this.file}:{this.line}  compiled; {times}")
    others = [
        (this.file, this.line, this.node.end_lineno, this.why)
        for this in loops
        if this.why and not this.ready
    ]
    # Of loops in each other with one reason the innermost is told.
    for file, first, last, why in sorted(others + _refused, key=lambda loop: loop[2] - loop[1]):
        share = _share(file, first, last)
        if share > _SHARE and (file, why) not in found:
            found.add((file, why))
            told.append(f"      {file}:{first}  {share:.0%} of the run; not compiled: {why}")
    return told
