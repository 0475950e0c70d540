// Collectives by NCCL on arrays of one device.
#include "vendor/nccl.h"

#include <nanobind/stl/vector.h>

#include <cstring>

#include "convert.h"
#include "lazy/spill.h"

namespace numbus::bindings {
namespace {

using vendor::Communicator;

// One rank's end of a group, and the queue beside the device's own for what travels meanwhile.
class Link {
 public:
  Link(const std::string& device, int size, int rank, nb::bytes id)
      : device_(resolve_device(device)) {
    vendor::NcclId raw;
    if (id.size() != sizeof raw.bytes)
      raise(ErrorKind::Value, "nccl", "not an id", std::to_string(id.size()) + " bytes",
            std::to_string(sizeof raw.bytes));
    std::memcpy(raw.bytes, id.c_str(), sizeof raw.bytes);
    nb::gil_scoped_release released;
    end_ = std::make_unique<Communicator>(device_, size, rank, raw);
  }

  // The memory of an operand, with work on it queued. Unless it is `checked`, its late checks may
  // still be open.
  char* memory(nb::handle o, const char* op, bool written, bool checked = true) {
    if (!is_array(o.ptr()))
      raise(ErrorKind::Type, op, "not an array", nb::cast<std::string>(nb::str(o.type())),
            "numbus.ndarray");
    Array& a = as_array(o.ptr());
    if (!a.layout->c_contiguous() || a.base->device != &device_)
      raise(ErrorKind::Value, op, "an operand does not fit",
            shape_string(*a.layout) + " on " + device_label(*a.base->device),
            "a C-contiguous array on " + device_label(device_));
    if (written) {
      require_writeable(a, op);
      before_write(a);
      a.base->changed();
    }
    return (checked ? data_of : queued_data_of)(a, "passed to NCCL");
  }

  Queue* queue(bool aside) {
    if (aside && !side_) side_ = device_.create_queue({});
    return aside ? side_.get() : nullptr;
  }
  Device& device() { return device_; }
  Communicator& end() { return *end_; }

  void abort(const std::string& why) {
    nb::gil_scoped_release released;
    end_->abort(why);
  }
  void destroy() {
    nb::gil_scoped_release released;
    end_->destroy();
    side_.reset();
  }

 private:
  Device& device_;
  std::unique_ptr<Communicator> end_;
  std::unique_ptr<Queue> side_;
};

Communicator::Fold fold_of(int number) { return static_cast<Communicator::Fold>(number); }
int64_t bytes_of(const Array& a) { return a.size() * itemsize(a.dtype); }

void all_reduce(Link& l, const std::string& op, nb::handle data, int fold, bool aside,
                bool checked) {
  const InPlace operands;
  char* at = l.memory(data, op.c_str(), true, checked);
  const Array& a = as_array(data.ptr());
  Queue* queue = l.queue(aside);
  nb::gil_scoped_release released;
  l.end().all_reduce(op.c_str(), at, a.size(), a.dtype, fold_of(fold), queue);
}

void reduce(Link& l, const std::string& op, nb::handle data, int fold, int root) {
  const InPlace operands;
  char* at = l.memory(data, op.c_str(), true);
  const Array& a = as_array(data.ptr());
  nb::gil_scoped_release released;
  l.end().reduce(op.c_str(), at, a.size(), a.dtype, fold_of(fold), root, nullptr);
}

void reduce_scatter(Link& l, const std::string& op, nb::handle from, nb::handle to, int fold) {
  const InPlace operands;
  const char* source = l.memory(from, op.c_str(), false);
  char* target = l.memory(to, op.c_str(), true);
  const Array &whole = as_array(from.ptr()), &part = as_array(to.ptr());
  if (whole.dtype != part.dtype || whole.size() != part.size() * l.end().size())
    raise(ErrorKind::Value, op, "sizes do not fit",
          std::to_string(whole.size()) + " and " + std::to_string(part.size()),
          "a part for each rank");
  nb::gil_scoped_release released;
  l.end().reduce_scatter(op.c_str(), source, target, part.size(), part.dtype, fold_of(fold),
                         nullptr);
}

void broadcast(Link& l, const std::string& op, nb::handle data, int root) {
  const InPlace operands;
  char* at = l.memory(data, op.c_str(), true);
  const Array& a = as_array(data.ptr());
  nb::gil_scoped_release released;
  l.end().broadcast(op.c_str(), at, bytes_of(a), root, nullptr);
}

void all_gather(Link& l, const std::string& op, nb::handle from, nb::handle to) {
  const InPlace operands;
  const char* source = l.memory(from, op.c_str(), false);
  char* target = l.memory(to, op.c_str(), true);
  const Array &part = as_array(from.ptr()), &whole = as_array(to.ptr());
  if (bytes_of(whole) != bytes_of(part) * l.end().size())
    raise(ErrorKind::Value, op, "sizes do not fit",
          std::to_string(bytes_of(part)) + " and " + std::to_string(bytes_of(whole)) + " bytes",
          "a part for each rank");
  nb::gil_scoped_release released;
  l.end().all_gather(op.c_str(), source, target, bytes_of(part), nullptr);
}

// Of (whether it is sent, array, rank).
void exchange(Link& l, const std::string& op, nb::list messages) {
  const InPlace operands;
  std::vector<Communicator::Message> all;
  for (nb::handle m : messages) {
    const bool sends = nb::cast<bool>(m[0]);
    nb::object array = m[1];
    char* at = l.memory(array, op.c_str(), !sends);
    all.push_back({sends, at, bytes_of(as_array(array.ptr())), nb::cast<int>(m[2])});
  }
  nb::gil_scoped_release released;
  l.end().exchange(op.c_str(), all, nullptr);
}

}  // namespace

void bind_nccl(nb::module_& m) {
  m.def(
      "nccl_id",
      [] {
        vendor::NcclId id;
        {
          nb::gil_scoped_release released;
          id = vendor::nccl_id();
        }
        return nb::bytes(id.bytes, sizeof id.bytes);
      },
      "What one rank hands to all others, so that they find each other.");
  m.def(
      "nccl_takes", [](nb::handle t) { return vendor::nccl_takes(to_dtype(t.ptr())); },
      "Whether NCCL folds numbers of a dtype.");
  nb::class_<Link>(m, "Communicator", "One rank's end of a group of NCCL's.")
      .def(nb::init<std::string, int, int, nb::bytes>(), nb::arg("device"), nb::arg("size"),
           nb::arg("rank"), nb::arg("id"))
      .def("all_reduce", &all_reduce, nb::arg("op"), nb::arg("data"), nb::arg("fold"),
           nb::arg("aside") = false, nb::arg("checked") = true)
      .def("reduce", &reduce)
      .def("reduce_scatter", &reduce_scatter)
      .def("broadcast", &broadcast)
      .def("all_gather", &all_gather)
      .def("exchange", &exchange)
      .def("oldest",
           [](Link& l) {
             const Communicator::Waiting w = l.end().oldest();
             return nb::make_tuple(w.op, w.seconds);
           })
      .def("failure", [](Link& l) { return l.end().failure(); })
      .def("abort", &Link::abort)
      .def("destroy", &Link::destroy)
      .def_prop_ro("device", [](Link& l) { return device_label(l.device()); });
  m.def(
      "distrust",
      [](const std::string& device, const std::string& why) {
        resolve_device(device).distrust(why);
      },
      nb::arg("device"), nb::arg("why"),
      "Has all that is read from a device raise `why` from now on; empty: no longer.");
}

}  // namespace numbus::bindings
