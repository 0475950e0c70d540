// Lists and dicts of compiled functions that Python holds.
#pragma once

#include <functional>

#include "frontend.h"

namespace numbus::bindings {

// One reference to the memory of a dict (compile/runtime.h), with its type.
class Container {
 public:
  Container(frontend::Type type, int64_t owner);
  ~Container();
  Container(const Container&) = delete;
  const frontend::Type& type() const { return type_; }
  int64_t owner() const { return owner_; }
  // Arrays in it that lie in memory of a call's arguments hold these from now on.
  void keep_arrays(const Arguments& call) const;

 private:
  frontend::Type type_;
  int64_t owner_;
};

// Of a generator: its frame, and the arguments that it was made with.
int64_t owner_of_generator(nb::handle generator);
const Arguments& arguments_of_generator(nb::handle generator);
nb::object new_generator(const frontend::Type& t, int64_t owner, const Arguments& call);

// The class numbus.kernels.typed.Dict.
nb::handle typed_dict();
// The container that a value of numbus.kernels.typed holds; null for others.
const Container* container_of(nb::handle value);

// Each item of a list, or entry of a dict as a tuple of key and value, as words.
void each_item(const frontend::Type& t, int64_t owner,
               const std::function<void(const frontend::Type&, const int64_t*)>& item);
// One more reference to all that these words own.
void retain_owners(const frontend::Type& t, const int64_t* words);

}  // namespace numbus::bindings
