// Streams and events: one driver call each.
#include "device/cuda/stream.h"

#include "base/error.h"

namespace numbus::cuda {
namespace {

// At process exit the driver may be gone already, and in a forked child it is.
bool driver_gone() { return in_forked_child() || !cuda_available(); }

bool is_done(Result result, const char* call) {
  if (result == kErrorNotReady) return false;
  if (result != kSuccess) raise_driver_error(result, call, "asking whether the GPU is done");
  return true;
}

}  // namespace

Stream::Stream(ContextHandle context, bool independent, int priority) : context_(context) {
  ContextScope scope(context_);
  unsigned flags = independent ? kStreamNonBlocking : kStreamDefault;
  if (priority == 0)
    NUMBUS_CUDA("creating a stream", cuStreamCreate, &handle_, flags);
  else
    NUMBUS_CUDA("creating a stream", cuStreamCreateWithPriority, &handle_, flags, priority);
}

Stream::~Stream() {
  if (handle_ && owned_ && !driver_gone()) driver().cuStreamDestroy(handle_);
}

int Stream::priority() const {
  ContextScope scope(context_);
  int value = 0;
  NUMBUS_CUDA("asking for a stream's priority", cuStreamGetPriority, handle_, &value);
  return value;
}

void Stream::synchronize() const {
  ContextScope scope(context_);
  NUMBUS_CUDA("waiting for the GPU", cuStreamSynchronize, handle_);
}

bool Stream::done() const {
  ContextScope scope(context_);
  return is_done(driver().cuStreamQuery(handle_), "cuStreamQuery");
}

void Stream::wait(const Event& event) const {
  ContextScope scope(context_);
  NUMBUS_CUDA("making a stream wait", cuStreamWaitEvent, handle_, event.handle(), 0);
}

Event::Event(ContextHandle context, bool timing) : context_(context) {
  ContextScope scope(context_);
  NUMBUS_CUDA("creating an event", cuEventCreate, &handle_, timing ? 0 : kEventDisableTiming);
}

Event::~Event() {
  if (handle_ && !driver_gone()) driver().cuEventDestroy(handle_);
}

void Event::record(StreamHandle stream) const {
  ContextScope scope(context_);
  NUMBUS_CUDA("recording an event", cuEventRecord, handle_, stream);
}

void Event::synchronize() const {
  ContextScope scope(context_);
  NUMBUS_CUDA("waiting for an event", cuEventSynchronize, handle_);
}

bool Event::done() const {
  ContextScope scope(context_);
  return is_done(driver().cuEventQuery(handle_), "cuEventQuery");
}

bool Event::reached() const noexcept {
  if (driver_gone()) return true;
  try {
    ContextScope scope(context_);
    return driver().cuEventQuery(handle_) != kErrorNotReady;
  } catch (const std::exception&) {
    return true;
  }
}

float Event::elapsed_since(const Event& start) const {
  ContextScope scope(context_);
  float milliseconds = 0;
  NUMBUS_CUDA("timing two events", cuEventElapsedTime, &milliseconds, start.handle(), handle_);
  return milliseconds;
}

}  // namespace numbus::cuda
