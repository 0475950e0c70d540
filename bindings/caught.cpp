// Errors of compiled functions as Python's exceptions: what is raised in the end, and what a
// function asks of one that it has caught.
#include <nanobind/stl/string.h>

#include "base/host_call.h"
#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"

namespace numbus::bindings {

using frontend::Site;
using frontend::Type;

nb::object noted_error(const Site& s, int64_t first, int64_t second) {
  if (s.exception == "objmode") return raised_in_object_mode(first);
  nb::object arguments = nb::none();
  if (!s.argument.unknown()) {
    Type list = Type::of(Type::Tag::List);
    list.items = {s.argument};
    each_item(list, first, [&](const Type& item, const int64_t* words) {
      retain_owners(item, words);
      arguments = to_python(item, words, Arguments());
    });
  }
  return jit_errors().attr("noted")(s.exception, s.text, first, second, arguments);
}

nb::object noted_cause(const std::vector<Site>& sites, int64_t owner) {
  const auto* list =
      reinterpret_cast<const compile::List*>(owner + static_cast<int64_t>(sizeof(compile::Owner)));
  const auto* words = reinterpret_cast<const int64_t*>(list->data);
  nb::object error = noted_error(sites.at(static_cast<size_t>(words[0])), words[1], words[2]);
  if (words[4]) error.attr("__cause__") = noted_cause(sites, words[4]);
  return error;
}

namespace {

constexpr int64_t kNotAnswered = 1, kTooFew = 2;

// The words of a host call: what is asked, the sites, the error's own site and values, where to.
struct Asked {
  int64_t how;
  const std::vector<Site>& sites;
  nb::object error;
  int64_t* to;

  explicit Asked(const int64_t* words)
      : how(words[0]),
        sites(*reinterpret_cast<const std::vector<Site>*>(words[1])),
        error(noted_error(sites.at(static_cast<size_t>(words[2])), words[3], words[4])),
        to(reinterpret_cast<int64_t*>(words[5])) {}
};

template <class F>
int64_t answered(const int64_t* words, F&& answer) {
  if (!words[1]) return kNotAnswered;  // what runs the function does not know its sites
  nb::gil_scoped_acquire held;
  try {
    const Asked asked(words);
    answer(asked);
  } catch (nb::python_error& e) {
    return kNotAnswered;
  } catch (const std::exception&) {
    return kNotAnswered;
  }
  return 0;
}

int64_t text_of_error(const int64_t* words) {
  return answered(words, [](const Asked& asked) {
    const nb::object text = asked.how ? nb::repr(asked.error) : nb::object(nb::str(asked.error));
    give_words(text, Type::of(Type::Tag::String), "str", asked.to);
  });
}

int64_t arguments_of_error(const int64_t* words) {
  bool too_few = false;
  const int64_t status = answered(words, [&](const Asked& asked) {
    const Site& wanted = asked.sites.at(static_cast<size_t>(asked.how));
    nb::tuple all = nb::borrow<nb::tuple>(asked.error.attr("args"));
    // "e.args 1": that item only.
    if (const size_t at = wanted.exception.find(' '); at != std::string::npos) {
      const size_t k = std::stoul(wanted.exception.substr(at + 1));
      too_few = all.size() <= k;
      if (too_few) return;
      all = nb::make_tuple(all[k]);
    }
    give_words(all, wanted.argument, "e.args", asked.to);
  });
  return too_few ? kTooFew : status;
}

}  // namespace

void bind_caught() {
  auto answers = [](HostCall call, HostCallFunction f) {
    host_calls[static_cast<size_t>(call)] = f;
  };
  answers(HostCall::ErrorText, text_of_error);
  answers(HostCall::ErrorArguments, arguments_of_error);
}

}  // namespace numbus::bindings
