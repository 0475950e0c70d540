// NumPy's errstate, which it keeps in a context variable: tasks of asyncio have one each.
#pragma once

namespace numbus::bindings {

// Whether the program has set any: before that, all contexts have the same.
extern bool sets_errstate;

// Takes over the errstate of the context that runs now, if it is another one than at the last call.
void follow_context() noexcept;

// At the beginning of an operation of the program.
inline void follow_errstate() {
  if (sets_errstate) [[unlikely]]
    follow_context();
}

}  // namespace numbus::bindings
