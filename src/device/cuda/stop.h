// Ctrl-C on a GPU: a word of device memory that kernels look at where they have no known end, and
// waits that look for the signal.
#pragma once

#include "device/cuda/stream.h"

namespace numbus::cuda {

// The word's address, which each launch of a kernel passes along; made at the first request.
DevicePointer stop_word(ContextHandle context);

// Waits until done() holds, or throws Interrupted in the main thread: then kernels that look at the
// word have been told to end, and have ended if they do so within a second.
void wait_interruptibly(const Stream& stream);
void wait_interruptibly(const Event& event);

// Waits in the main thread until a word of the host's that a kernel of the stream writes to has
// this value; false: the stream has come to its end, or failed, or this is another thread.
bool wait_for_word(const Stream& stream, const int64_t* word, int64_t value);

}  // namespace numbus::cuda
