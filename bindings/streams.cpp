// Streams, events and memory of the host for Python; copies in streams.
#include "base/interrupt.h"
#include "device/counts.h"
#include "device/device.h"

#include <memory>

#include "base/error.h"
#include "convert.h"
#include "frontend.h"
#include "launch/kernel.h"

namespace numbus::bindings {
namespace {

// A device's own queue, or one beside it.
struct Stream {
  Device* device;
  std::unique_ptr<Queue> queue;

  int number() const { return queue ? queue->number() : 0; }
};

struct Event {
  Device* device;
  std::unique_ptr<Marker> marker;
  bool timing;
  bool recorded = false;
  int queue = 0;  // where it was recorded
};

void require_same(const Device& here, const Device& wanted, const char* what) {
  if (&here != &wanted)
    raise(ErrorKind::Value, what, "of another device", device_label(here), device_label(wanted));
}

// Streams, events and memory that a GPU knows name the GPU.
Device& named_device() {
  ask_for_gpu();
  return default_device();
}

Stream make_stream(bool independent, int priority, std::uintptr_t existing) {
  Device& d = named_device();
  return {&d, d.create_queue({independent, priority, existing})};
}

// What is recorded belongs to the device's own queue.
void submit(const Stream& s) {
  if (!s.queue) Runtime::get().flush("stream");
}

void synchronize(Stream& s) {
  submit(s);
  {
    interrupt::Inside inside;  // handlers of signals may run while it waits
    nb::gil_scoped_release free;
    if (s.queue) {
      s.queue->synchronize();
    } else {
      s.device->synchronize();
    }
  }
  s.device->check_trusted();
  check_noted(s.queue ? s.number() : kAnyQueue);
  if (!s.queue) late::tell();
}

bool done(Stream& s) {
  if (s.queue) return s.queue->done();
  submit(s);
  auto marker = s.device->create_marker(false);
  marker->record(nullptr);
  return marker->done();
}

void hold(Stream& s, Event& e) {
  require_same(*e.device, *s.device, "wait_event");
  submit(s);
  e.marker->hold(s.queue.get());
}

void record(Event& e, nb::handle stream) {
  Queue* queue = queue_of(stream, *e.device);
  if (!queue) Runtime::get().flush("event");
  e.marker->record(queue);
  e.queue = queue ? queue->number() : 0;
  e.recorded = true;
}

double elapsed(Event& end, Event& start) {
  require_same(*start.device, *end.device, "elapsed_time");
  for (const Event* e : {&start, &end}) {
    if (!e->recorded || !e->timing)
      raise(ErrorKind::Value, "elapsed_time", "an event tells no time",
            e->recorded ? "one made with timing=False" : "one that was not recorded",
            "events made with timing, and recorded");
  }
  return end.marker->milliseconds_since(*start.marker);
}

void synchronize_event(Event& e) {
  {
    interrupt::Inside inside;
    nb::gil_scoped_release free;
    e.marker->synchronize();
  }
  e.device->check_trusted();
  check_noted(e.queue);
}

// Memory of the host that the device knows; given back when nobody has it any more and all work
// with it is done.
class HostMemory {
 public:
  HostMemory(int64_t bytes, int kind, bool write_combined) : device_(named_device()) {
    if (bytes < 0)
      raise(ErrorKind::Value, "alloc_pinned", "negative size", std::to_string(bytes),
            "a number of bytes");
    block_ = device_.allocate_host(static_cast<size_t>(bytes), static_cast<HostKind>(kind),
                                   write_combined);
    if (known()) add_host_block(block_);
  }
  // Takes memory that is there and keeps its owner.
  HostMemory(nb::object owner, int kind) : device_(named_device()) {
    if (get_typed_buffer(owner.ptr(), &view_, PyBUF_ANY_CONTIGUOUS) != 0) throw nb::python_error();
    registered_ = true;
    auto bytes = static_cast<size_t>(view_.len);
    HostBlock around;
    if (find_host_block(view_.buf, bytes, &around)) return;  // is pinned already
    try {
      block_ = device_.register_host(view_.buf, bytes, static_cast<HostKind>(kind));
    } catch (...) {
      PyBuffer_Release(&view_);
      throw;
    }
    if (known()) add_host_block(block_);
  }
  HostMemory(const HostMemory&) = delete;
  ~HostMemory() {
    let_go([this] {
      try {
        end();
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        // The GPU is lost; whoever uses it next is told.
      }
    });
    if (block_.begin != 0 && block_.ours) {
      if (known()) remove_host_block(block_.begin);
      device_.free_host(block_);
    }
  }

  // Registered memory is the host's alone again. Its owner may go even where the GPU is lost.
  void end() {
    if (!registered_) return;
    registered_ = false;
    struct Done {
      Py_buffer* view;
      ~Done() { PyBuffer_Release(view); }
    } done{&view_};
    if (block_.begin == 0) return;
    if (known()) remove_host_block(block_.begin);
    HostBlock block = std::exchange(block_, {});
    nb::gil_scoped_release free;
    device_.unregister_host(block);
  }

  const HostBlock& block() const { return block_; }

 private:
  bool known() const { return device_.runs_ptx() && block_.bytes != 0; }

  Device& device_;
  HostBlock block_;
  Py_buffer view_{};
  bool registered_ = false;
};

int host_buffer(PyObject* self, Py_buffer* view, int flags) {
  const HostBlock& b = nb::inst_ptr<HostMemory>(nb::handle(self))->block();
  return PyBuffer_FillInfo(view, self, reinterpret_cast<void*>(b.begin),
                           static_cast<Py_ssize_t>(b.bytes), 0, flags);
}

PyType_Slot host_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(host_buffer)}, {0, nullptr}};

// A buffer of NumPy's that lies like the array, element for element; nothing else can be copied in
// one piece.
struct Piece {
  Py_buffer view{};
  bool held = false, fits = false;
  Piece(const Array& a, nb::handle o, bool to_write) {
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (to_write ? PyBUF_WRITABLE : 0);
    if (get_typed_buffer(o.ptr(), &view, flags) != 0) {
      PyErr_Clear();
      return;
    }
    held = true;
    auto type = from_format(view.format, view.itemsize);
    fits = a.layout->c_contiguous() && type && *type == a.dtype && view.ndim == a.ndim();
    for (int k = 0; fits && k < view.ndim; ++k) fits = view.shape[k] == a.layout->shape(k);
  }
  Piece(const Piece&) = delete;
  ~Piece() {
    if (held) PyBuffer_Release(&view);
  }
};

void note_copy(const Device& d, size_t bytes, bool to_host) {
  if (!d.host_readable()) Runtime::get().note_copy(static_cast<int64_t>(bytes), to_host);
}

// Copies in a stream; false where it takes more than moving bytes.
bool copy_in(nb::handle array, nb::handle host, nb::handle stream) {
  Array& a = as_array(array.ptr());
  require_writeable(a, "copy_to_device");
  Device& d = *a.base->device;
  Queue* queue = queue_of(stream, d);
  Piece p(a, host, false);
  if (!p.fits) return false;
  before_write(a);
  a.base->changed();
  char* to = data_of(a, "written by a copy");
  auto bytes = static_cast<size_t>(p.view.len);
  if (to == p.view.buf || bytes == 0) return true;
  CopyTimer timer;
  if (queue)
    d.upload(to, p.view.buf, bytes, *queue);
  else
    d.copy_from_host(to, p.view.buf, bytes);
  note_copy(d, bytes, false);
  return true;
}

bool copy_out(nb::handle array, nb::handle host, nb::handle stream) {
  Array& a = as_array(array.ptr());
  Device& d = *a.base->device;
  Queue* queue = queue_of(stream, d);
  Piece p(a, host, true);
  if (!p.fits) return false;
  char* from = data_of(a, "copied to the host");
  auto bytes = static_cast<size_t>(p.view.len);
  if (from == p.view.buf || bytes == 0) return true;
  CopyTimer timer;
  if (queue)
    d.download(p.view.buf, from, bytes, *queue);
  else
    d.copy_to_host(p.view.buf, from, bytes);
  d.check_trusted();
  note_copy(d, bytes, true);
  return true;
}

bool fill_bytes(nb::handle array, int value, nb::handle stream) {
  Array& a = as_array(array.ptr());
  require_writeable(a, "memset");
  Device& d = *a.base->device;
  Queue* queue = queue_of(stream, d);
  if (!a.layout->c_contiguous() && !a.layout->f_contiguous()) return false;
  before_write(a);
  a.base->changed();
  char* to = data_of(a, "filled");
  d.fill_bytes(to, static_cast<unsigned char>(value),
               static_cast<size_t>(a.size() * itemsize(a.dtype)), queue);
  return true;
}

// The memory as an array of the device's, for kernels and array work. On a CPU NumPy's own way of
// sharing does that.
nb::object mapped_array(nb::object owner) {
  Py_buffer* view = new Py_buffer;
  if (get_typed_buffer(owner.ptr(), view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    delete view;
    throw nb::python_error();
  }
  auto release = [](void* p) {
    let_go([p] { PyBuffer_Release(static_cast<Py_buffer*>(p)); });
    delete static_cast<Py_buffer*>(p);
  };
  auto type = from_format(view->format, view->itemsize);
  HostBlock b;
  std::uintptr_t first = reinterpret_cast<std::uintptr_t>(view->buf);
  if (!type || !find_host_block(view->buf, 0, &b) || b.device_address == 0) {
    release(view);
    raise(ErrorKind::Value, "mapped", "the array cannot be mapped",
          type ? "memory that is pinned without an address on the GPU" : "a type that Numbus lacks",
          "an array of numbers that is not pinned yet");
  }
  std::vector<int64_t> shape(view->shape, view->shape + view->ndim),
      strides(view->strides, view->strides + view->ndim);
  return nb::steal(
      wrap(borrow(reinterpret_cast<void*>(b.device_address + (first - b.begin)), shape, strides,
                  *type, !view->readonly, true, release, view, &default_device())));
}

}  // namespace

Queue* queue_of(nb::handle stream, Device& device) {
  if (stream.is_none()) return nullptr;
  auto& s = nb::cast<Stream&>(stream);
  require_same(*s.device, device, "stream");
  return s.queue.get();
}

void bind_streams(nb::module_& m) {
  nb::class_<Stream>(m, "Stream")
      .def("synchronize", synchronize)
      .def("done", done)
      .def("wait_event", hold)
      .def_prop_ro("number", &Stream::number)
      .def_prop_ro("device", [](Stream& s) { return device_label(*s.device); })
      .def_prop_ro("priority", [](Stream& s) { return s.queue ? s.queue->priority() : 0; })
      .def_prop_ro("handle", [](Stream& s) { return s.queue ? s.queue->handle() : 0; });
  m.def("make_stream", make_stream, nb::arg("independent") = false, nb::arg("priority") = 0,
        nb::arg("existing") = 0, "A stream beside the device's own one, which is None.");
  m.def("main_stream", [] { return Stream{&named_device(), nullptr}; });
  nb::class_<Event>(m, "Event")
      .def("record", record, nb::arg("stream").none())
      .def("synchronize", synchronize_event)
      .def(
          "wait", [](Event& e) { e.marker->synchronize(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("query", [](Event& e) { return e.marker->done(); })
      .def("elapsed_since", elapsed)
      .def_prop_ro("device", [](Event& e) { return device_label(*e.device); })
      .def_prop_ro("handle", [](Event& e) { return e.marker->handle(); });
  m.def("make_event", [](bool timing) {
    Device& d = named_device();
    return Event{&d, d.create_marker(timing), timing};
  });
  nb::class_<HostMemory>(m, "HostMemory", nb::type_slots(host_slots))
      .def(nb::init<int64_t, int, bool>())
      .def("end", &HostMemory::end)
      .def_prop_ro("ptr", [](HostMemory& h) { return h.block().begin; })
      .def_prop_ro("nbytes", [](HostMemory& h) { return h.block().bytes; })
      .def_prop_ro("device_ptr", [](HostMemory& h) { return h.block().device_address; });
  m.def("register_host",
        [](nb::object owner, int kind) { return new HostMemory(std::move(owner), kind); });
  m.def("mapped_array", mapped_array);
  m.def(
      "device_address",
      [](std::uintptr_t address) -> std::uintptr_t {
        HostBlock b;
        if (!find_host_block(reinterpret_cast<const void*>(address), 0, &b)) return 0;
        return b.device_address ? b.device_address + (address - b.begin) : 0;
      },
      "Where kernels find the host's memory at an address; 0: nowhere.");
  m.def("copy_in", copy_in, nb::arg("array"), nb::arg("host"), nb::arg("stream").none());
  m.def("copy_out", copy_out, nb::arg("array"), nb::arg("host"), nb::arg("stream").none());
  m.def("fill_bytes", fill_bytes, nb::arg("array"), nb::arg("value"), nb::arg("stream").none());
  m.def(
      "register_array_type",
      [](nb::object type) { plain_array_types().push_back(type.release().ptr()); },
      "Makes arrays of a subclass of numpy.ndarray what plain ones are.");
}

}  // namespace numbus::bindings
