// Arrays as the language bindings see them: a typed view of a base, and the operations that record
// work.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/observer.h"
#include "array/precision.h"
#include "lazy/runtime.h"

namespace numbus {

struct Array {
  Handle base;
  LayoutRef layout;
  int64_t offset = 0;
  DType dtype = DType::F64;
  bool writeable = true;
  bool owns = true;  // not a view: what flags and base report
  std::shared_ptr<void>
      origin;  // of a view: whatever the bindings call the array it was taken from
  // The tensor through which its elements are seen (program/views.h), also where a function has
  // made another view of them; zero: nobody knows.
  uint64_t through = 0;

  int ndim() const { return layout->ndim(); }
  int64_t size() const { return layout->size(); }
  std::span<const int64_t> shape() const {
    return {layout->shape(), static_cast<size_t>(layout->ndim())};
  }
  ViewRef view() const { return {base.get(), layout.get(), offset, dtype, through}; }
};

// The state of a boolean array when it was used as an index. Shared by all masked values made with
// it; written to, the array leaves its old values here first.
struct Mask {
  Array array;
  uint64_t value;       // the array's value number as it was
  bool watched = true;  // array still is the user's own
  int64_t count = -1;   // true elements, once known
  ~Mask();
};

// The elements of an array where a mask holds, along one axis whose length nobody has asked for
// yet; without a mask the array itself. Python's arrays hold this, elementwise work gives it. Who
// takes an Array gets it settled by the conversion; only what names `full` and `mask` sees them.
struct Masked {
  Array full;
  std::shared_ptr<Mask> mask;

  Masked() = default;
  Masked(Array a) : full(std::move(a)) {}
  Masked(Array a, std::shared_ptr<Mask> m) : full(std::move(a)), mask(std::move(m)) {}
  int ndim() const { return mask ? 1 : full.ndim(); }
  // From here on an ordinary array, its elements side by side. Any thread of Python may run
  // meanwhile.
  Array& settled() {
    if (mask) settle();
    return full;
  }
  operator Array() && { return std::move(settled()); }

 private:
  void settle();
};

// An operand of an elementwise operation. Weak: a Python number, whose type yields to the arrays'.
class Arg {
 public:
  Scalar scalar;
  DType dtype = DType::F64;  // of a strong scalar
  bool weak = false;
  bool huge = false;  // a weak integer beyond 64 bits; the scalar holds the nearest float

  Arg() = default;
  explicit Arg(const Array* a) : array_(a) {}
  explicit Arg(Masked* m) : array_(&m->full), masked_(m->mask ? m : nullptr) {}
  Arg(const Scalar& s, DType t) : scalar(s), dtype(t) {}
  bool is_array() const { return array_ != nullptr; }
  // Null for a number. Settles what is masked, so that later uses of it need not do it again.
  const Array* array() const {
    if (masked_) masked_->settled();
    return array_;
  }
  // For those who look at the mask, too: the array that the elements are taken from.
  const Array* full() const { return array_; }
  Mask* mask() const { return masked_ ? masked_->mask.get() : nullptr; }
  std::shared_ptr<Mask> shared_mask() const { return masked_ ? masked_->mask : nullptr; }
  // Another array in its place, or none; how numbers are taken stays.
  void replace(const Array* a) { array_ = a, masked_ = nullptr; }

 private:
  const Array* array_ = nullptr;
  Masked* masked_ = nullptr;  // whose array it is, where that had a mask
};

// Where the caller is: recorded with each instruction. Bindings say when they call in for another
// line of the program; which one is found out when something is recorded, by their find_line. A
// flush lets other threads record.
extern constinit thread_local bool line_is_new;
extern uint64_t (*find_line)();
uint64_t current_line();
void set_line(uint64_t line);
// Notes how a new array was made, for errors of memory.
void note_line(Live& live, const Array& a);
inline void note_made(const Array& a) {
  if (a.base->live) note_line(*a.base->live, a);
}

Array empty(std::span<const int64_t> shape, DType t, Device* device = nullptr);
Array full(std::span<const int64_t> shape, DType t, const Scalar& value);
// A line of int64 with these elements.
Array of_integers(std::span<const int64_t> values, Device& device);
Array arange(double start, double step, int64_t start_int, int64_t step_int, int64_t n, DType t,
             Device* device = nullptr);
Array borrow(void* data, std::span<const int64_t> shape, std::span<const int64_t> strides, DType t,
             bool writeable, bool shared, void (*release)(void*), void* owner,
             Device* device = nullptr);

// Elementwise.
DType common_dtype(std::span<const Arg> args);
struct Options {
  const Array* out = nullptr;
  Masked* into = nullptr;  // in place of `out`, where that may be masked
  const Array* where = nullptr;
  std::optional<DType> dtype;
  Casting casting = Casting::SameKind;
};
Masked apply(Op op, std::span<const Arg> args, const Options& o = {});
// One step of the kernel IR whose operands are converted to `loop` (select: all but the condition);
// `operands` are the types of those that are numbers.
Masked record_map(Op op, DType loop, DType result, std::span<const Arg> args,
                  const DType* operands);
// A straightened function (passes/straighten.h); null where it has too many parameters to be
// recorded. Equal functions are one, as long as no thousand others were asked for meanwhile.
std::shared_ptr<const Recordable> recordable(ir::Function f);
bool loops(const ir::Function& f);
// Its result over the shape that its operands broadcast to: as operations, or, where it loops or is
// long, as one instruction.
Masked record_steps(const Recordable& f, std::span<const Arg> args);
// As operations, also where it is long; it has no loop.
Masked record_each_step(const Recordable& f, std::span<const Arg> args);
Masked record_apply(const Recordable& f, std::span<const Arg> args, const Options& o = {});
Masked select(const Arg& condition, const Arg& x, const Arg& y);
// d op / d argument at these operands, of the type of the operation's result; none where the row of
// ops.def has none.
std::optional<Array> partial_derivative(Op op, int argument, std::span<const Array> operands);
// A Python number must be a value that the type has; other operands are cast.
void require_value(const Arg& from, DType to, const char* op);
void assign(const Array& to, const Arg& from, const Array* where = nullptr,
            Casting casting = Casting::Unsafe);
Array copy(const Array& a, DType t, bool c_order = false);
Masked copy(const Arg& a, DType t);  // of an array or a masked value, in its axis order
// Uninitialised, laid out as a copy that need not be in C order.
Array copy_like(const Array& a, DType t);
Array reduce(Reduction kind, const Array& a, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof,
             const Array* out = nullptr);
// By name: those of Reduction, also of complex numbers, and mean and std, which are composed.
Array reduce(std::string_view name, const Array& a, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof,
             const Array* out = nullptr);
Array reduce(std::string_view name, Masked& m, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof,
             const Array* out = nullptr);

// Whether matmul() takes operands of 16 bits as they are: where the product runs on a GPU.
bool multiplies_halves(const Array& x, const Array& y);
// x @ y over the last two axes, stacks broadcast, computed in `t` (which a BLAS has); both have two
// axes at least.
// `part_of` says whose setting of precision (array/precision.h) holds.
Array matmul(const Array& x, const Array& y, DType t, const Array* out = nullptr,
             uint8_t part_of = precision::kProducts);
// A routine that works on lines: along `axis` of `a`, results in its shape, int64 indices in C
// order or elements of its type in the axis order of a copy.
Array along_lines(Routine r, const Array& a, int axis, bool indices,
                  std::span<const int64_t> attributes);
// The elements that sorting puts at the given ranks of each line along `axis`, which becomes the
// last one; in the order of the ranks, which may be equal.
Array select(const Array& a, int axis, std::span<const int64_t> ranks);
// Where values belong in a sorted line of their type, int64; right: after equal ones.
Array search(const Array& sorted, const Array& values, bool right);
// The values at `x`, float64, of the lines between points, two lines of float64 of one length;
// `ends` holds the values before and after them.
Array interpolate(const Array& x, const Array& xp, const Array& fp, const Array& ends);
// How often each integer of [0, bins) occurs, int64, or the sums of their float64 weights. The
// values are bool or integers, all in that range.
Array bincount(const Array& x, int64_t bins, const Array* weights);
// n random numbers of routine philox, of uint64, float64 or float32, pcg64, or normal, of a state
// (routines/random.h). Without a device on the default one.
Array draw(Routine r, std::span<const uint64_t> state, int64_t n, DType t,
           Device* device = nullptr);
// The same of routine philox or normal, of a state that is an array of uint64, on its device. The
// counter in it is then that of the numbers after these: it is work in place like any other, so
// that what is captured draws others each time it is done again.
Array draw_on(Routine r, const Array& state, int64_t n, DType t);
// n numbers of a routine that draws some again, of a kind and in room for so many units of the
// stream, and its report (routines/gpu_random.h). The kernel was loaded for the type that
// sample_type gives.
std::pair<Array, Array> sample(Routine r, std::string_view kind, std::span<const uint64_t> state,
                               int64_t n, int64_t units, DType t, Device* device = nullptr);
DType sample_type(DType t);
// How many values, of a real type but bool, lie between each edge and the next, int64; the last bin
// has its right edge, too. uniform: evenly spaced edges of a floating-point type, else any that do
// not decrease, of the values' type.
Array histogram(const Array& x, const Array& edges, bool uniform);
// The Fourier transforms of `x` over its last `rank` axes (1 to 3; on a CPU 1), into `t`, the last
// axis of the result `last` long: see vendor/fft.h. Unscaled, on a CPU as `scale` (FftScale) says.
Array fft(const Array& x, int rank, bool inverse, DType t, int64_t last, int scale, bool wide);
// What a routine of linear algebra makes of float64 or complex128, on a GPU also of float32 or
// complex64: operands have the same axes before those of its matrices (vendor/linalg.h). other: its
// second form. Where a matrix may have no result, it is carried out now, and raises.
std::vector<Array> linalg(Routine r, bool other, std::span<const Array> given);
// r[0] = x[0], r[i] = op(r[i - 1], x[i]) along `axis`, in NumPy's type for it, or that of `dtype`
// or `out`.
Array accumulate(Op op, const Array& x, int axis, std::optional<DType> dtype, const Array* out);
// Raises where one of the integers is negative: NumPy's rule for exponents of integers.
void require_exponents(const Array& exponents, const std::string& title);
// r[k] = op(… op(x[i], x[i + 1]) …, x[j - 1]) along `axis`, where i and j are index k and the one
// after it, or x[i] where i >= j; the last segment goes up to the end. Types as of accumulate().
// Integers and what is not associative are folded in order; floating-point sums and products of
// more than 32 elements along memory are those of reduce() over the segment.
Array reduceat(Op op, const Array& x, std::span<const int64_t> indices, int axis,
               std::optional<DType> dtype, const Array* out);
// Uninitialised, in the axis order that NumPy's iterator finds for `a`.
Array empty_like(const Array& a, DType t);
// Appends an instruction that is complete but for its operands.
void record(Instr& i, const Array& out, const Window::Input* in, int count);
// Appends a call of the routine that `i` names, complete but for its operands and results; all
// results but the first are in fresh memory.
void record_call(Instr& i, std::span<const Array* const> operands,
                 std::span<const Array* const> results);

// The arrays, at least one, along an axis that all have, or a new one (new_axis). dtype, or that of
// `out`: of the result, promoted from the arrays otherwise.
Array concatenate(std::span<const Array> arrays, int axis, bool new_axis, const char* op,
                  std::optional<DType> dtype, Casting casting, const Array* out);

// The elements moved along each axis by moves[axis] >= 0, below its extent, going round.
Array roll(const Array& a, std::span<const int64_t> moves);

// Indexing by integer arrays, which stand for the dimensions of `a` whose bits are set in `axes`,
// at most three. Their shared shape stands at `place` among the dimensions that are left. Wrong
// indices raise IndexError: at once where their values are known, else when they run.
Array gather(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis);
// The same with the result in C order, whatever the order of `a`.
Array gather_in_rows(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis);
struct Scatter {
  const Array* where = nullptr;
  // Of indices that meet the last one stays, or what the element becomes by a sum or an extreme.
  Op op = Op::scatter;
  bool distinct = false;  // the indices are known to be right, and each of them occurs once
  bool late = false;      // though distinct, they may be wrong, which is told when they run
  // A plain scatter on a device that scatters in order: elements become by(element, value), or
  // by(element), computed in `loop`. cast: the values themselves.
  Op by = Op::cast;
  DType loop = DType::Bool;
};
void scatter(const Array& to, uint64_t axes, std::span<const Array> index, int first_axis,
             const Arg& value, const Scatter& how = {});
// Raises for wrong indices now, and waits for them where that is needed.
void check_indices(const Array& to, uint64_t axes, std::span<const Array> index);
// ufunc.at: the indexed elements become op(element, value), or op(element) of a unary one; an index
// that occurs repeatedly counts as often, in order. The types are those of the operands, the
// result is cast to that of `to` as NumPy's is, without a question.
struct Update {
  bool distinct = false;  // as in Scatter
  bool in_order = true;   // where the device scatters in order; false: by sorting there, too
  bool late = false;      // wrong indices are told when they run, not now
};
void update(Op op, const Array& to, uint64_t axes, std::span<const Array> index, int first_axis,
            const Arg* value, const Update& how = {});
// A new array of that layout.
Array fresh(const Layout* layout, DType t, Device* device);
// A dense layout whose axes lie in memory in the given order, outermost first.
const Layout* dense_layout(std::span<const int64_t> shape, std::span<const int> outer_first,
                           int size);
// The order NumPy's iterator finds for n axes, outermost first: an insertion sort from the
// innermost axis out, in which axes that no operand can tell apart (extents of one, broadcast) are
// skipped and C order wins where operands disagree.
std::vector<int> iteration_order(std::span<const Array* const> arrays, int n);

// Views.
Array view_of(const Array& a, const Layout* layout, int64_t offset);
Array last_axes(const Array& a, int n);  // at index 0 of the others
Array broadcast_to(const Array& a, std::span<const int64_t> shape);
const Layout* broadcast_layout(const Array& a, const Layout* to, const char* op);
std::vector<int64_t> broadcast_shape(std::span<const Array* const> arrays, const char* op);
Array transpose(const Array& a, std::span<const int> axes);
Array reshape(const Array& a, std::vector<int64_t> shape);  // a view where possible, else a copy
std::optional<Array> reshape_view(
    const Array& a, std::vector<int64_t> shape);  // nothing where it would take a copy
Array part(const Array& a, bool imaginary);
Array view_as(const Array& a, DType t);

// Makes the device kernels of a routine known before it is recorded for a GPU; set by the bindings.
extern void (*load_device_kernels)(const Device& device, Routine r, DType t);
// The same for the kernels in which the routine applies an operation.
extern void (*load_fold_kernels)(const Device& device, Routine r, Op op, DType t, DType loop);
// The same for one kernel of a routine, by its name.
extern void (*load_device_kernel)(Routine r, const std::string& kernel, DType t);
// Masks: a[mask], and a[mask] = from, which gives false where `from` has several elements that are
// not under the same mask.
Masked compress(const Array& a, const Array& mask);
// The indices, int64, at which a line of booleans holds; their number is read at once.
Array flatnonzero(const Array& mask);
bool assign_where(const Array& to, const Array& mask, const Arg& from);
void keep_mask(Base& b);
// Whoever writes to `a` otherwise than by a recorded instruction comes here first: a mask that was
// made of it keeps its values.
inline void before_write(const Array& a) {
  if (a.base->mask) keep_mask(*a.base.get());
  if (observer()) [[unlikely]]
    observer()->before_write(a);
}

// The memory of an array, with all pending work on it done.
char* data_of(const Array& a, const char* reason);
// The same, for what is queued after that work: late checks may still be open.
char* queued_data_of(const Array& a, const char* reason);
Scalar read_element(const Array& a, int64_t byte_offset);
// The elements on the host, at the view's strides: the memory itself on a CPU, a copy of it
// otherwise.
std::shared_ptr<char> host_view(const Array& a, const char* reason);
Array to_device(const Array& a, Device& d);
// On the device of new arrays, for good where the user named that.
Array to_default_device(const Array& a);

// "cpu", "cuda", "cuda:N" or "null"; raises where that cannot be used.
// device_label gives the name back.
std::string device_label(const Device& d);
Device& resolve_device(const std::string& name);
// NUMBUS_DEVICE; where that is not set and there may be a GPU, what choose_by_cost() says. Found at
// first use, not at import.
Device& default_device();
// The user's code names CUDA (cupy, cuda.jit): where no device was named, it is the first usable
// GPU from here on.
void ask_for_gpu();
void set_default_device(Device& d);
// Arrays lie where their work is cheap (array/placement.h): NUMBUS_DEVICE=auto.
void choose_by_cost();
bool chosen_by_cost();
// The name of the default device, "auto" where it is chosen by cost.
std::string default_label();
// While it lives, this thread makes new arrays on `d`; null: where it did before.
class DeviceOfNew {
 public:
  explicit DeviceOfNew(Device* d);
  ~DeviceOfNew();
  DeviceOfNew(const DeviceOfNew&) = delete;

 private:
  Device* before_ = nullptr;
  bool changed_ = false;
};
// A predicate is read as the bytes of booleans: other types would be taken for them.
void require_boolean(const Array& where, const char* op);
void require_writeable(const Array& a, const char* op);

}  // namespace numbus
