// Collectives of the ranks of a program, each of which has an NVIDIA GPU, by NCCL.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::vendor {

// What one rank draws and hands to all others, so that they find each other.
struct NcclId {
  char bytes[128];
};
NcclId nccl_id();

// Whether NCCL has numbers of that type.
bool nccl_takes(DType t);

// One rank's end of a group. Calls are queued in the device's own queue or in the one that is
// given, after work that conflicts with them, and return at once; `op` names the caller in
// messages. The calls of all ranks have to be the same, in the same order.
class Communicator {
 public:
  enum class Fold { Sum, Product, Max, Min, Average };  // the numbers are NCCL's
  struct Message {
    bool sends;
    char* data;
    int64_t bytes;
    int peer;
  };

  // All ranks of the group are here at the same time. What is not destroyed stays with NCCL to the
  // end of the process: to abort it then could take from other ranks what they still wait for.
  Communicator(Device& device, int size, int rank, const NcclId& id);
  Communicator(const Communicator&) = delete;

  Device& device() const { return device_; }
  int size() const { return size_; }

  void all_reduce(const char* op, char* data, int64_t count, DType t, Fold fold, Queue* queue);
  void reduce(const char* op, char* data, int64_t count, DType t, Fold fold, int root,
              Queue* queue);
  // `to` gets `count` elements, of which `from` has as many for each rank.
  void reduce_scatter(const char* op, const char* from, char* to, int64_t count, DType t, Fold fold,
                      Queue* queue);
  void broadcast(const char* op, char* data, int64_t bytes, int root, Queue* queue);
  // `to` gets the `bytes` of each rank, in their order.
  void all_gather(const char* op, const char* from, char* to, int64_t bytes, Queue* queue);
  // Single messages that are under way together.
  void exchange(const char* op, std::span<const Message> messages, Queue* queue);

  // The oldest call that has not ended: its name and how long ago it was made; else empty.
  struct Waiting {
    std::string op;
    double seconds = 0;
  };
  Waiting oldest();
  // What NCCL says has gone wrong in work that was queued; empty: nothing.
  std::string failure();
  // Ends what is under way; calls from now on raise `why`, a whole message. Any thread.
  void abort(const std::string& why);
  // After all that was queued has ended.
  void destroy();

 private:
  struct Call {
    std::string op;
    double begun;
    std::unique_ptr<Marker> marker;
  };
  template <class F>
  void call(const char* op, const char* entry, std::span<const Use> uses, Queue* queue, F&& f);
  void check(const char* op, const std::string& entry, int status);

  Device& device_;
  int size_;
  void* comm_ = nullptr;
  std::timed_mutex calling_;  // held while NCCL is being called
  std::mutex mutex_;          // of what follows
  std::deque<Call> calls_;
  Call current_{};  // an empty name: none
  std::string aborted_;
  bool ended_ = false;
};

}  // namespace numbus::vendor
