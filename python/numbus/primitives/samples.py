"""Kernels of NumPy's random numbers of which some are drawn again: integers below a bound, normal
and exponential numbers, with NumPy's bits and its end of the stream.

Where a number begins depends on how much the numbers before it took. So each block takes a tile of
the stream, and each thread decodes as if a number began at its unit (a word, or the part of one of
which integers of 32, 16, 8 bits or one are made): how many units that takes, and whether it gives a
number. Most take one. Which units numbers do begin at is found for each 32 of them (a row) from the
64 before: nothing takes more than MOST units, so a unit that nothing from MOST before on reaches
over is a beginning whatever happened earlier. Then the numbers are counted, the tiles before say
how many they have (as in compact.py), and each number goes to its place.

A comparison that the last bits of a logarithm or an exponential could turn is the C library's to
decide: such a unit is reported, and the caller, who asks NumPy, says what it gives in another call.
What takes longer than MOST units is reported, too.
"""

import math

import numpy as np

from .. import cuda
from ..kernels import _ziggurat
from ._device import INT, add, array
from ._streams import HALF, LOW, STATE, THREADS, U32, U64, make_fill
from .compact import kept_before

ALL = 0xFFFFFFFF
ALL64 = U64(0xFFFFFFFFFFFFFFFF)
I64, F32, F64 = np.int64, np.float32, np.float64
WARPS = THREADS // 32
ROW = 32  # units of which a word has a bit each
MOST = 33  # units of a number
HALO = 64  # units before a tile, and after it, that a block decodes, too
DOUBLE, SINGLE = 1.0 / 9007199254740992.0, F32(1.0 / 16777216.0)
# By how much of itself a value of the C library's may differ from ours.
NEARLY, NEARLY_SINGLE = 2.0**-50, 2.0**-31
NEARLY_SQUARE, NEARLY_SQUARE_SINGLE = 2.0**-47, 2.0**-21


def double_at(words, p):
    return F64(words[p] >> U64(11)) * DOUBLE


def half_at(words, p):
    return U32((words[p >> 1] >> (U64(p & 1) << U64(5))) & LOW)


def single_at(words, p):
    return F32(half_at(words, p) >> U32(8)) * SINGLE


def make_normal(kind):
    """What decodes at a unit: the units that a number takes, whether it gives one, whether that is
    uncertain; and the number, of a unit that gives one.
    """
    limits, widths, heights = _ziggurat.tables("normal", kind)
    single = kind == "float32"
    real = F32 if single else F64
    begin, inverse = real(_ziggurat.NORMAL_TAIL), real(1 / float(_ziggurat.NORMAL_TAIL))
    near = NEARLY_SQUARE_SINGLE if single else NEARLY_SQUARE

    def strip(words, p):
        if single:
            r = half_at(words, p)
            return np.int64(r & U32(255)), (r >> U32(9)) & U32(0x7FFFFF), (r >> U32(8)) & U32(1)
        r = words[p]
        return (
            np.int64(r & U64(255)),
            (r >> U64(9)) & U64(0xFFFFFFFFFFFFF),
            U32((r >> U64(8)) & U64(1)),
        )

    def distance(words, p):
        """Beyond where the tail begins."""
        if single:
            return -inverse * F32(math.log1p(-F64(single_at(words, p))))
        return -inverse * math.log1p(-double_at(words, p))

    def tail(words, p):
        """Tries until one is accepted."""
        unsure = False
        at = p + 1
        while at + 1 < p + MOST:
            x = F64(distance(words, at))
            if single:
                y = -F64(F32(math.log1p(-F64(single_at(words, at + 1)))))
            else:
                y = -math.log1p(-double_at(words, at + 1))
            y, square = y + y, x * x
            unsure = unsure or abs(y - square) <= near * square
            at += 2
            if y > square:
                return at - p, True, unsure
        return MOST, True, True

    def decode(words, p):
        strips, integer, _ = strip(words, p)
        if integer < limits[strips]:
            return 1, True, False
        if strips == 0:
            return tail(words, p)
        x = F64(real(integer) * widths[strips])
        fraction = single_at(words, p + 1) if single else double_at(words, p + 1)
        height = (heights[strips - 1] - heights[strips]) * fraction + heights[strips]
        e = math.exp(-0.5 * x * x)
        below = F64(height) < e
        return 2, below, abs(F64(height) - e) <= NEARLY * e

    def value(words, p, taken):
        strips, integer, sign = strip(words, p)
        if taken > 1 and strips == 0:
            x = begin + distance(words, p + I64(taken) - 2)
            return -x if (integer >> type_of(8)) & type_of(1) else x
        x = real(integer) * widths[strips]
        return -x if sign != U32(0) else x

    type_of = U32 if single else U64
    return decode, value


def make_exponential(kind):
    """The same of exponential numbers."""
    limits, widths, heights = _ziggurat.tables("exponential", kind)
    single = kind == "float32"
    real = F32 if single else F64
    begin = real(_ziggurat.EXPONENTIAL_TAIL)

    def strip(words, p):
        if single:
            r = half_at(words, p)
            return np.int64((r >> U32(1)) & U32(255)), r >> U32(9)
        r = words[p]
        return np.int64((r >> U64(3)) & U64(255)), r >> U64(11)

    def decode(words, p):
        strips, integer = strip(words, p)
        if integer < limits[strips]:
            return 1, True, False
        if strips == 0:
            return 2, True, False
        x = real(integer) * widths[strips]
        fraction = single_at(words, p + 1) if single else double_at(words, p + 1)
        height = (heights[strips - 1] - heights[strips]) * fraction + heights[strips]
        e = math.exp(-F64(x))
        if single:
            below = height < F32(e)
            least, most = F32(e * (1.0 - NEARLY_SINGLE)), F32(e * (1.0 + NEARLY_SINGLE))
            return 2, below, (height < least) != (height < most)
        return 2, height < e, abs(height - e) <= NEARLY * e

    def value(words, p, taken):
        strips, integer = strip(words, p)
        if taken > 1 and strips == 0:
            if single:
                return begin - F32(math.log1p(-F64(single_at(words, p + 1))))
            return begin - math.log1p(-double_at(words, p + 1))
        return real(integer) * widths[strips]

    return decode, value


def make_integers(bits, word):
    """Integers by Lemire's method (2019): the upper part of a product of a unit and the bound.

    Where the lower part is below a threshold, another unit is drawn.
    """
    each = 64 // bits
    shift, part = U64(bits), U64((1 << bits) - 1)

    def unit_at(words, p):
        if bits == 64:
            return words[p]
        return (words[p // each] >> (U64(p % each) * shift)) & part

    def decode(words, p, bound, threshold):
        if bits == 64:
            return unit_at(words, p) * bound >= threshold
        return ((unit_at(words, p) * bound) & part) >= threshold

    def value(words, p, bound, offset):
        """Of the bound 0 the unit as it is."""
        unit = unit_at(words, p)
        if bound != U64(0):
            unit = cuda.mul_high(unit, bound) if bits == 64 else (unit * bound) >> shift
        return word(unit + offset)

    return decode, value


def taken_at(spans, late, row, lane):
    """The units of the number at a bit of a row."""
    if (late[row] >> U32(lane)) & U32(1):
        return I64(spans[row * ROW + lane])
    return I64(1)


def between(first, end):
    """The bits of a word from the first one to the one before the end."""
    return (ALL64 << U64(first)) & ~(ALL64 << U64(end))


def skipped(late, spans, row):
    """How many units of a row are part of a number that begins before; below 0: not known."""
    before = U64(late[row - 2]) | (U64(late[row - 1]) << HALF)
    first = (row - 2) * ROW
    reached, over = U64(0), False
    rest = before
    while rest != U64(0):
        i = I64(cuda.ffs(rest)) - 1
        end = i + I64(spans[first + i])
        over = over or end > HALO
        reached |= between(i + 1, end)
        rest &= rest - U64(1)
    if not over:
        return I64(0)
    # The last beginning that is certain: of the upper half all is known that could reach over it.
    free = ~reached & ~LOW
    if free == U64(0):
        return I64(-1)
    at = I64(63) - I64(cuda.clz(free))
    while at < HALO:
        rest = before >> U64(at)
        if rest == U64(0):
            return I64(0)
        at += I64(cuda.ffs(rest)) - 1
        at += I64(spans[first + at])
    return at - HALO


def beginnings(late, spans, row, skip):
    """The units of a row, a bit each, at which numbers begin, but for the first ones."""
    begins = between(skip, ROW)
    rest = U64(late[row]) & begins
    while rest != U64(0):
        i = I64(cuda.ffs(rest)) - 1
        begins &= ~between(i + 1, i + I64(spans[row * ROW + i]))
        rest &= rest - U64(1)
        rest &= begins
    return U32(begins)


def make_sample(generator, decode, value, parsed, bits, each):
    """A kernel of 256 * each words a block, of units of so many bits, and the units of a tile.

    parsed: numbers take several units, as `decode` says; else it says which units give one.
    """
    per_word = 64 // bits
    margin = HALO // per_word if parsed else 0  # words
    size = THREADS * each
    step = size - 2 * margin
    first_row, rows = margin * per_word // ROW, (margin + step) * per_word // ROW
    units = step * per_word
    together = -(-rows // THREADS)
    fill = make_fill(generator, each, step)
    up_to = I64(units + 2)
    given = STATE[generator]
    span_count = rows * ROW if parsed else 1
    late_count = rows if parsed else 1

    def sample(out, report, status, tickets, n, state):
        """report: the unit after the last number, counted from the first tile; for a unit that is
        uncertain twice its number and 2, of a tail 3, and below 0 for what else is. status,
        tickets: zeros; a word for each tile, and one.

        state: the stream's; where the first number begins, and the number of the word, and itself,
        that stands before what is drawn next, half of which may be left; of integers an offset, the
        bound or 0, and the threshold; of others one more than a unit that was decided, how many
        units are taken there, and whether they give a number.
        """
        words = cuda.shared.array(size, U64)
        good = cuda.shared.array(rows, U32)
        late = cuda.shared.array(late_count, U32)
        spans = cuda.shared.array(span_count, np.uint8)
        starts = cuda.shared.array(rows, U32)
        sums = cuda.shared.array(WARPS, U32)
        shared = cuda.shared.array(2, I64)
        t = cuda.threadIdx.x
        lane = cuda.laneid
        if t == 0:
            shared[0] = I64(cuda.atomic.add(tickets, 0, 1))
        cuda.syncthreads()
        tile = shared[0]
        fill(words, tile, state, t)
        cuda.syncthreads()
        begin = I64(0)
        if tile == 0:
            begin = I64(state[given]) + first_row * ROW
            if t == 0:
                words[margin + I64(state[given + 1])] = state[given + 2]
        cuda.syncthreads()
        offset, bound, threshold = state[given + 3], state[given + 4], state[given + 5]
        doubt = I64(0)
        for row in range(t // 32, rows, WARPS):
            p = row * ROW + lane
            if parsed:
                taken, gives, unsure = I64(1), False, False
                if p >= begin:
                    taken, gives, unsure = decode(words, p)
                if unsure:
                    at = tile * units + p - first_row * ROW + 1
                    if U64(at) == offset:
                        taken, gives = I64(bound), threshold != U64(0)
                    else:
                        doubt = 2 * at + I64(taken > 2)
                if taken != 1:
                    spans[p] = np.uint8(taken)
                slow = U32(cuda.ballot_sync(ALL, taken != 1))
                if lane == 0:
                    late[row] = slow
            else:
                gives = p >= begin and decode(words, p, bound, threshold)
            votes = U32(cuda.ballot_sync(ALL, gives))
            if lane == 0:
                good[row] = votes
        cuda.syncthreads()
        if parsed:
            for row in range(first_row + t, rows, THREADS):
                skip = skipped(late, spans, row)
                if skip < 0:
                    doubt = I64(-1)
                else:
                    good[row] &= beginnings(late, spans, row, skip)
        if doubt != 0:
            cuda.atomic.exch(report, 1, doubt)
        cuda.syncthreads()
        count = U32(0)
        for k in range(together):
            row = first_row + t * together + k
            if row < rows:
                starts[row] = count
                count += U32(cuda.popc(good[row]))
        before = count
        for distance in (1, 2, 4, 8, 16):
            other = cuda.shfl_up_sync(ALL, before, distance)
            if lane >= distance:
                before += other
        if lane == 31:
            sums[t // 32] = before
        cuda.syncthreads()
        earlier, all_of_them = U32(0), U32(0)
        for w in range(WARPS):
            if w < t // 32:
                earlier += sums[w]
            all_of_them += sums[w]
        before += earlier - count
        for k in range(together):
            row = first_row + t * together + k
            if row < rows:
                starts[row] += before
        if t < 32:
            if t == 0 and tile > 0:
                cuda.atomic.exch(status, tile, I64(all_of_them) + 1)
            others = kept_before(status, tile, up_to)
            if t == 0:
                cuda.atomic.exch(status, tile, others + I64(all_of_them) + up_to)
                shared[1] = others
        cuda.syncthreads()
        to = shared[1]
        lower = U32(cuda.lanemask_lt())
        for row in range(first_row + t // 32, rows, WARPS):
            votes = good[row]
            if (votes >> U32(lane)) & U32(1):
                at = to + I64(starts[row]) + cuda.popc(votes & lower)
                if at < n:
                    p = row * ROW + lane
                    taken = I64(1)
                    if parsed:
                        taken = taken_at(spans, late, row, lane)
                        out[at] = value(words, p, taken)
                    else:
                        out[at] = value(words, p, bound, offset)
                    if at == n - 1:
                        report[0] = tile * units + p - first_row * ROW + taken

    return sample, units


# Words of each thread, by the bits of a unit.
EACH = {64: 16, 32: 8, 16: 4, 8: 4, 1: 4}


def load_sample(generator, dtype, kind):
    """kind: "normal", "exponential", or "integers" of units of so many bits, as "integers32"."""
    word = np.dtype(dtype)
    if kind.startswith("integers"):
        bits = int(kind[len("integers") :])
        decode, value = make_integers(bits, word.type)
        parsed = False
    else:
        bits, parsed = 8 * word.itemsize, True
        decode, value = (make_normal if kind == "normal" else make_exponential)(word.name)
    kernel, tile = make_sample(generator, decode, value, parsed, bits, EACH[bits])
    line = array("int64")
    arguments = [array(word), line, line, array("uint32"), INT, array("uint64")]
    # Of two kinds of normal numbers the compiler would let three blocks run at a time.
    at_a_time = {"max_threads": THREADS, "min_blocks": 4}
    name = f"{generator}_{kind}_sample"
    add(name, word, kernel, arguments, tile=tile, threads=THREADS, **at_a_time)


def load_pcg64(dtype, kind):
    load_sample("pcg64", dtype, kind)


def load_philox(dtype, kind):
    load_sample("philox", dtype, kind)
