// Creation, and access to memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "array/ahead.h"
#include "array/array.h"
#include "array/at_once.h"
#include "array/capture.h"
#include "array/in_use.h"
#include "array/placement.h"
#include "base/error.h"
#include "device/counts.h"
#include "device/opened.h"
#include "lazy/live.h"
#include "lazy/spill.h"

namespace numbus {

constinit thread_local bool line_is_new = false;
uint64_t (*find_line)() = nullptr;

namespace {
constinit thread_local uint64_t line_now = 0;
}

uint64_t current_line() {
  if (line_is_new && find_line) line_now = find_line();
  line_is_new = false;
  return line_now;
}

void set_line(uint64_t line) {
  line_now = line;
  line_is_new = false;
}

Device& resolve_device(const std::string& name) {
  if (name == "cpu") return cpu_device();
  if (name == "null") return null_device();
  if (name == "fenced") return fenced_device();
  if (name.rfind("cuda", 0) == 0) {
    const int ordinal = name.size() > 5 ? std::atoi(name.c_str() + 5) : current_gpu();
    if (Device* d = cuda_device(ordinal)) return *d;
    raise(ErrorKind::Runtime, "device", "the GPU cannot be used: " + cuda_unavailable_reason(),
          name, "a usable GPU, or cpu");
  }
  raise(ErrorKind::Value, "device", "unknown device", name, "cpu, cuda, cuda:N or null");
}

std::string device_label(const Device& d) { return d.label(); }

namespace {
Device* chosen = nullptr;
bool left_open = false;                   // the user named no device: placement decides
bool gpu_is_asked_for = false;            // by code that names CUDA
thread_local Device* followed = nullptr;  // that of the operands of a call, where it is another
}  // namespace

Device& default_device() {
  if (followed) return *followed;
  if (chosen && !(left_open && gpu_is_asked_for)) return *chosen;
  const char* name = chosen ? "auto" : std::getenv("NUMBUS_DEVICE");
  if (name && *name && std::string_view(name) != "auto") {
    chosen = &resolve_device(name);
  } else if (Device* gpu = gpu_is_asked_for ? cuda_device(current_gpu()) : nullptr) {
    chosen = gpu;
    left_open = false;
  } else if (name && *name) {
    gpu_is_asked_for = false;
    choose_by_cost();
  } else if (may_have_gpu()) {
    choose_by_cost();
  } else {
    chosen = &cpu_device();
  }
  return *chosen;
}
void ask_for_gpu() { gpu_is_asked_for = true; }
Device* device_in_use() {
  if (followed) return followed;
  if (chosen && !left_open) return chosen;
  Device* gpu = opened_cuda_device(current_gpu());
  return gpu ? gpu : chosen;
}
// What a call's own code chooses holds until the end of the call.
void set_default_device(Device& d) {
  (followed ? followed : chosen) = &d;
  if (!followed) left_open = false;
}
void choose_by_cost() {
  if (!placement::on && may_have_gpu()) placement::begin_with_gpu();
  chosen = &cpu_device();
  left_open = true;
}
bool chosen_by_cost() { return left_open && !followed; }
std::string default_label() {
  const Device& d = default_device();
  return chosen_by_cost() ? "auto" : device_label(d);
}

DeviceOfNew::DeviceOfNew(Device* d) {
  if (!d || d == &default_device()) return;
  before_ = followed;
  followed = d;
  changed_ = true;
}
DeviceOfNew::~DeviceOfNew() {
  if (changed_) followed = before_;
}

void note_line(Live& live, const Array& a) {
  live.line = current_line();
  live.layout = a.layout;
  live.dtype = a.dtype;
}

namespace {

Array wrap(Base* base, const Layout* layout, DType t) {
  Array a;
  a.base = Handle(base);
  a.layout = LayoutRef(layout);
  a.dtype = t;
  return a;
}

}  // namespace

Array empty(std::span<const int64_t> shape, DType t, Device* device) {
  const Layout* l = Layout::contiguous(shape, itemsize(t));
  const int64_t bytes = l->size() * itemsize(t);
  Array a = wrap(Base::create(device ? *device : placement::of_new(), bytes), l, t);
  if (placement::on && !device && !left_open && !followed) placement::pin(a);
  note_made(a);
  return a;
}

Array full(std::span<const int64_t> shape, DType t, const Scalar& value) {
  Array a = empty(shape, t);
  Arg v;
  v.scalar = value;
  v.weak = true;
  assign(a, v);
  return a;
}

Array arange(double start, double step, int64_t start_int, int64_t step_int, int64_t n, DType t,
             Device* device) {
  Array a = empty({&n, 1}, t, device);
  if (n == 0) return a;
  bool exact = !is_inexact(t);
  Instr i;
  i.op = Op::index;
  i.nin = 2;
  i.loop = exact ? DType::I64 : computed_in(t);
  Window::Input in[2];
  in[0].dtype = in[1].dtype = i.loop;
  in[0].scalar = exact ? Scalar::from_int(start_int) : Scalar::from_float(start);
  in[1].scalar = exact ? Scalar::from_int(step_int) : Scalar::from_float(step);
  if (carry_out_at_once(i, i.loop, a, in, 2)) return a;
  record(i, a, in, 2);
  return a;
}

Array borrow(void* data, std::span<const int64_t> shape, std::span<const int64_t> strides, DType t,
             bool writeable, bool shared, void (*release)(void*), void* owner, Device* device) {
  LayoutRef l(Layout::get(shape, strides, itemsize(t)));
  int64_t low = l->size() ? l->low() : 0;
  Base* b = Base::create(device ? *device : cpu_device(), l->size() ? l->high() - low : 0);
  b->data = static_cast<char*>(data) + low;
  b->owned = false;
  b->release = release;
  b->owner = owner;
  b->shared = shared ? 1 : 0;  // for as long as it lives: its owner can always reach it
  Array a = wrap(b, l.get(), t);
  a.offset = -low;
  a.writeable = writeable;
  return a;
}

namespace {

// Before elements are read: whoever watches is told.
void note_read(const Array& a) {
  Capture::touch(*a.base.get());
  if (observer()) [[unlikely]]
    observer()->before_read(a);
}

char* memory_of(const Array& a, const char* reason, bool waits) {
  note_read(a);
  Runtime::get().materialize(a.base.get(), reason, waits);
  if (a.base->live) InPlace::note(*a.base.get());
  return a.base->data + a.offset;
}

}  // namespace

char* data_of(const Array& a, const char* reason) { return memory_of(a, reason, true); }

char* queued_data_of(const Array& a, const char* reason) { return memory_of(a, reason, false); }

namespace {

// Some bytes of an array that a device gives before all of its work has ended; false: it does not.
bool read_early(const Array& a, const char* reason, int64_t byte_offset, int64_t bytes, char* to) {
  Base& b = *a.base.get();
  if (!Runtime::get().read_early(b, reason, a.offset + byte_offset, static_cast<size_t>(bytes), to))
    return false;
  b.device->check_trusted();
  Runtime::get().note_copy(bytes, true);
  return true;
}

}  // namespace

Scalar read_element(const Array& a, int64_t byte_offset) {
  note_read(a);
  char value[16];
  if (read_early(a, "value read", byte_offset, itemsize(a.dtype), value))
    return load_scalar(a.dtype, value);
  Runtime::get().materialize_anywhere(a.base.get(), "value read");
  if (placement::on) placement::is_read(a);
  char* at = a.base->data + a.offset + byte_offset;
  if (a.base->device->host_readable()) return load_scalar(a.dtype, at);
  CopyTimer timer;
  a.base->device->copy_to_host(value, at, itemsize(a.dtype));
  a.base->device->check_trusted();
  Runtime::get().note_copy(itemsize(a.dtype), true);
  return load_scalar(a.dtype, value);
}

std::shared_ptr<char> host_view(const Array& a, const char* reason) {
  const int64_t low = a.layout->low(), bytes = a.layout->high() - low;
  auto block_of_host = [&] {
    return std::shared_ptr<char>(static_cast<char*>(std::malloc(std::max<int64_t>(bytes, 1))),
                                 std::free);
  };
  std::shared_ptr<char> block;
  if (bytes > 0 && Runtime::may_come_early(*a.base.get())) {
    note_read(a);
    block = block_of_host();
    if (read_early(a, reason, low, bytes, block.get()))
      return std::shared_ptr<char>(block, block.get() - low);
  }
  char* at = data_of(a, reason);
  Device& d = *a.base->device;
  if (d.host_readable()) return std::shared_ptr<char>(std::shared_ptr<void>(), at);
  if (!block) block = block_of_host();
  CopyTimer timer;
  d.copy_to_host(block.get(), at + low, bytes);
  d.check_trusted();
  Runtime::get().note_copy(bytes, true);
  return std::shared_ptr<char>(block, block.get() - low);
}

Array to_device(const Array& a, Device& d) {
  if (a.base->device == &d) return a;
  Capture::touch(*a.base.get());
  if (observer()) [[unlikely]] {
    Observer* const told = observer();
    Array out;
    {
      const Unobserved moving;
      out = to_device(a, d);
    }
    told->moved(a, out);
    return out;
  }
  if (std::optional<Array> made = Ahead::take(a, d)) return *made;
  // The axes keep their order in memory, as in copies on one device.
  Array out = fresh(empty_like(a, a.dtype).layout.get(), a.dtype, &d);
  if (out.size() == 0) return out;
  std::vector<int> outer_first(a.ndim());
  std::iota(outer_first.begin(), outer_first.end(), 0);
  std::stable_sort(outer_first.begin(), outer_first.end(),
                   [&](int x, int y) { return out.layout->stride(x) > out.layout->stride(y); });
  Array dense = transpose(a, outer_first);
  if (!dense.layout->c_contiguous()) dense = copy(dense, a.dtype, true);
  auto host = host_view(dense, "copied to another device");
  out.base->ensure_data();
  if (d.host_readable()) {
    std::memcpy(out.base->data, host.get(), out.base->nbytes);
  } else {
    CopyTimer timer;
    d.copy_from_host(out.base->data, host.get(), out.base->nbytes);
    Runtime::get().note_copy(out.base->nbytes, false);
  }
  return out;
}

Array to_default_device(const Array& a) {
  Array moved = to_device(a, default_device());
  if (placement::on && !left_open && !followed) placement::pin(moved);
  return moved;
}

Array of_integers(std::span<const int64_t> values, Device& d) {
  const int64_t n = std::ssize(values);
  Array a = empty({&n, 1}, DType::I64, &d);
  if (n == 0) return a;
  a.base->ensure_data();
  if (d.host_readable()) {
    std::memcpy(a.base->data, values.data(), values.size_bytes());
  } else {
    d.copy_from_host(a.base->data, values.data(), values.size_bytes());
  }
  return a;
}

void require_writeable(const Array& a, const char* op) {
  if (!a.writeable)
    raise(ErrorKind::Value, op, "assignment destination is read-only", "a read-only array",
          "a writable one (see copy())");
}

}  // namespace numbus
