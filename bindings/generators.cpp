// Generators of compiled functions as objects of Python.
#include <nanobind/stl/string.h>

#include <memory>

#include "compile/leave.h"
#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"
#include "ir/function.h"

namespace numbus::bindings {

using compile::Frame;
using frontend::Type;

namespace {

// One reference to a generator's frame, and all that it needs of the call that has made it.
class Yielding {
 public:
  Yielding(Type type, int64_t owner, const Arguments& call)
      : type_(std::move(type)), owner_(owner), call_(call.shared_from_this()) {
    Frame& f = frame();
    // One that was an argument knows already what its errors mean.
    if (!f.sites) {
      sites_ = std::make_unique<std::vector<frontend::Site>>(*call.sites);
      f.sites = sites_.get();
    }
  }
  ~Yielding() {
    // Others may go on to hold the frame, and to ask what its errors mean.
    if (sites_ && count() > 1) sites_.release();  // NOLINT(bugprone-unused-return-value)
    compile::numbus_release(owner_);
  }
  Yielding(const Yielding&) = delete;

  nb::object next() {
    int64_t context[compile::kContextWords] = {};
    compile::Output output;
    context[compile::kOutput] = reinterpret_cast<int64_t>(&output);
    Frame& f = frame();
    context[compile::kSites] = reinterpret_cast<int64_t>(f.sites);
    auto what = ir::Resumed::Yielded;
    const std::vector<int64_t> outside{owner_};
    const int32_t status = compile::interruptible(
        [&] {
          what = static_cast<ir::Resumed>(compile::numbus_resume(context, owner_));
          return 0;
        },
        nullptr, &outside);
    if (status) f.state = static_cast<int64_t>(ir::Resumed::Ended);
    if (status == compile::kInterrupted) raise_interrupted(output.text);
    if (!output.text.empty()) nb::module_::import_("sys").attr("stdout").attr("write")(output.text);
    if (status == compile::kTooDeep) context[compile::kSite] = status;
    const auto& sites = *static_cast<const std::vector<frontend::Site>*>(f.sites);
    if (status || what == ir::Resumed::Failed) raise_noted(sites, context, false);
    if (what == ir::Resumed::Running) throw nb::value_error("generator already executing");
    if (what == ir::Resumed::Ended) throw nb::stop_iteration();
    const auto* words = reinterpret_cast<const int64_t*>(&f) + ir::kGeneratorWords;
    const Type& yielded = type_.items[0];
    retain_owners(yielded, words);
    return to_python(yielded, words, *call_);
  }
  void close() {
    Frame& f = frame();
    if (f.state != static_cast<int64_t>(ir::Resumed::Yielded)) return;
    auto* o = reinterpret_cast<compile::Owner*>(owner_);
    compile::close_generator(o);
  }
  const Type& type() const { return type_; }
  int64_t owner() const { return owner_; }
  const Arguments& call() const { return *call_; }

 private:
  Frame& frame() const {
    return *reinterpret_cast<Frame*>(owner_ + static_cast<int64_t>(sizeof(compile::Owner)));
  }
  int64_t count() const { return reinterpret_cast<compile::Owner*>(owner_)->count; }

  Type type_;
  int64_t owner_;
  std::shared_ptr<const Arguments> call_;
  std::unique_ptr<std::vector<frontend::Site>> sites_;
};

}  // namespace

int64_t owner_of_generator(nb::handle generator) {
  return nb::cast<const Yielding&>(generator).owner();
}

const Arguments& arguments_of_generator(nb::handle generator) {
  return nb::cast<const Yielding&>(generator).call();
}

nb::object new_generator(const Type& t, int64_t owner, const Arguments& call) {
  for (const nb::object& g : call.generators)
    if (owner_of_generator(g) == owner) {  // an argument comes back as the same object
      compile::numbus_release(owner);
      return g;
    }
  return nb::cast(new Yielding(t, owner, call), nb::rv_policy::take_ownership);
}

bool Arguments::add_yielding(nb::handle value, Type& t) {
  if (device || !nb::isinstance<Yielding>(value)) return false;
  const auto& g = nb::cast<const Yielding&>(value);
  t = g.type();
  words.push_back(g.owner());
  generators.push_back(nb::borrow(value));
  return true;
}

void bind_generators(nb::module_& m) {
  nb::class_<Yielding>(m, "Generator", "A generator of a compiled function.")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &Yielding::next)
      .def("close", &Yielding::close, "Ends it: it lets go of what it holds.");
}

}  // namespace numbus::bindings
