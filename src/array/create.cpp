// Creation, and access to memory.
#include <cstring>

#include "array/array.h"
#include "base/error.h"

namespace numbus {

uint64_t current_line = 0;

namespace {

Device& default_device() { return cpu_device(); }

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
  return wrap(Base::create(device ? *device : default_device(), l->size() * itemsize(t)), l, t);
}

Array full(std::span<const int64_t> shape, DType t, const Scalar& value) {
  Array a = empty(shape, t);
  Arg v;
  v.scalar = value;
  v.weak = true;
  assign(a, v);
  return a;
}

Array arange(double start, double step, int64_t start_int, int64_t step_int, int64_t n, DType t) {
  Array a = empty({&n, 1}, t);
  if (n == 0) return a;
  bool exact = !is_inexact(t);
  Instr i;
  i.op = Op::index;
  i.nin = 2;
  i.loop = exact ? DType::I64 : t == DType::F16 ? DType::F32 : t;
  Window::Input in[2];
  in[0].dtype = in[1].dtype = i.loop;
  in[0].scalar = exact ? Scalar::from_int(start_int) : Scalar::from_float(start);
  in[1].scalar = exact ? Scalar::from_int(step_int) : Scalar::from_float(step);
  Runtime& r = Runtime::get();
  r.about_to_record(current_line ^ 0x1dea);
  i.line = current_line;
  r.window().record(i, a.view(), in, 2);
  r.recorded(current_line);
  return a;
}

Array borrow(void* data, std::span<const int64_t> shape, std::span<const int64_t> strides, DType t, int64_t low, int64_t nbytes,
             bool writeable, bool shared, void (*release)(void*), void* owner) {
  Base* b = Base::create(cpu_device(), nbytes);
  b->data = static_cast<char*>(data) + low;
  b->owned = false;
  b->release = release;
  b->owner = owner;
  b->shared = shared ? 1 : 0;  // for as long as it lives: its owner can always reach it
  Array a = wrap(b, Layout::get(shape, strides, itemsize(t)), t);
  a.offset = -low;
  a.writeable = writeable;
  return a;
}

char* data_of(const Array& a, const char* reason) {
  Runtime::get().materialize(a.base.get(), reason);
  return a.base->data + a.offset;
}

Scalar read_element(const Array& a, int64_t byte_offset) { return load_scalar(a.dtype, data_of(a, "value read") + byte_offset); }

void require_writeable(const Array& a, const char* op) {
  if (!a.writeable) raise(ErrorKind::Value, op, "assignment destination is read-only", "a read-only array", "a writable one (see copy())");
}

}  // namespace numbus
