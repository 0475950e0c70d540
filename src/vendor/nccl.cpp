// Collectives by NCCL.
#include "vendor/nccl.h"

#include <chrono>
#include <optional>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

// The part of NCCL's documented ABI (version 2.10 and newer) that Numbus calls.
using Status = int;
using Handle = void*;
using StreamHandle = cuda::StreamHandle;
constexpr Status kSuccess = 0, kInProgress = 7;
constexpr int kBytes = 1;  // ncclUint8

struct Api {
  explicit Api(const Library& from) {
    resolve(from, "ncclGetUniqueId", &unique_id);
    resolve(from, "ncclCommInitRank", &init);
    resolve(from, "ncclCommDestroy", &destroy);
    resolve(from, "ncclCommAbort", &abort);
    resolve(from, "ncclCommGetAsyncError", &async_error);
    resolve(from, "ncclGetErrorString", &error_string);
    resolve(from, "ncclAllReduce", &all_reduce);
    resolve(from, "ncclReduce", &reduce);
    resolve(from, "ncclReduceScatter", &reduce_scatter);
    resolve(from, "ncclBroadcast", &broadcast);
    resolve(from, "ncclAllGather", &all_gather);
    resolve(from, "ncclSend", &send);
    resolve(from, "ncclRecv", &receive);
    resolve(from, "ncclGroupStart", &group_start);
    resolve(from, "ncclGroupEnd", &group_end);
    last_error = from.function<const char*(Handle)>("ncclGetLastError");
  }
  Status (*unique_id)(NcclId*);
  Status (*init)(Handle*, int size, NcclId, int rank);
  Status (*destroy)(Handle);
  Status (*abort)(Handle);
  Status (*async_error)(Handle, Status*);
  const char* (*error_string)(Status);
  const char* (*last_error)(Handle);  // as of 2.13; may be null
  Status (*all_reduce)(const void*, void*, size_t, int type, int fold, Handle, StreamHandle);
  Status (*reduce)(const void*, void*, size_t, int type, int fold, int root, Handle, StreamHandle);
  Status (*reduce_scatter)(const void*, void*, size_t, int type, int fold, Handle, StreamHandle);
  Status (*broadcast)(const void*, void*, size_t, int type, int root, Handle, StreamHandle);
  Status (*all_gather)(const void*, void*, size_t, int type, Handle, StreamHandle);
  Status (*send)(const void*, size_t, int type, int peer, Handle, StreamHandle);
  Status (*receive)(void*, size_t, int type, int peer, Handle, StreamHandle);
  Status (*group_start)();
  Status (*group_end)();
};

const Api& api() { return entries_of<Api>("nccl"); }

int number_of(DType t) {
  switch (t) {
    case DType::I8: return 0;
    case DType::U8:
    case DType::Bool: return 1;
    case DType::I32: return 2;
    case DType::U32: return 3;
    case DType::I64: return 4;
    case DType::U64: return 5;
    case DType::F16: return 6;
    case DType::F32: return 7;
    case DType::F64: return 8;
    case DType::BF16: return 9;
    default: return -1;
  }
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

size_t count_of(int64_t n) { return static_cast<size_t>(n); }

Use use_of(const char* data, int64_t bytes, bool written) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + static_cast<std::uintptr_t>(bytes), written};
}

std::string text_of(const Api& nccl, Status status, Handle comm) {
  std::string text = std::string("NCCL's ") + nccl.error_string(status);
  const char* more = nccl.last_error ? nccl.last_error(comm) : nullptr;
  if (more && *more) text += std::string(" (") + more + ")";
  return text;
}

// The device's context is the thread's, and the memory of one that runs on the host is in reach.
class On {
 public:
  explicit On(Device& d) : work_(d) {
    if (d.runs_ptx()) scope_.emplace(static_cast<cuda::CudaDevice&>(d).context());
  }

 private:
  DeviceWork work_;
  std::optional<cuda::ContextScope> scope_;
};

StreamHandle stream_of(Device& d, Queue* queue) {
  return d.runs_ptx() ? static_cast<cuda::CudaDevice&>(d).stream_of(queue).handle() : nullptr;
}

}  // namespace

bool nccl_takes(DType t) { return number_of(t) >= 0; }

NcclId nccl_id() {
  const Api& nccl = api();
  NcclId id{};
  const Status status = nccl.unique_id(&id);
  if (status != kSuccess)
    raise(ErrorKind::Runtime, "init_process_group", "ncclGetUniqueId failed",
          text_of(nccl, status, nullptr), "ncclSuccess");
  return id;
}

Communicator::Communicator(Device& device, int size, int rank, const NcclId& id)
    : device_(device), size_(size) {
  const Api& nccl = api();
  const On on(device_);
  check("init_process_group", "ncclCommInitRank", nccl.init(&comm_, size, id, rank));
}

void Communicator::check(const char* op, const std::string& entry, Status status) {
  if (status == kSuccess || status == kInProgress) [[likely]] {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!aborted_.empty()) raise(ErrorKind::Runtime, aborted_);
  }
  raise(ErrorKind::Runtime, op, entry + " failed", text_of(api(), status, comm_), "ncclSuccess");
}

template <class F>
void Communicator::call(const char* op, const char* entry, std::span<const Use> uses, Queue* queue,
                        F&& f) {
  const Api& nccl = api();
  std::lock_guard<std::timed_mutex> calling(calling_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!aborted_.empty()) raise(ErrorKind::Runtime, aborted_);
    if (ended_)
      raise(ErrorKind::Runtime, op, "the group has been destroyed", "a call", "none after that");
    current_ = {op, now(), nullptr};
  }
  struct End {
    Communicator& c;
    ~End() {
      std::lock_guard<std::mutex> lock(c.mutex_);
      c.current_.op.clear();
    }
  };
  const End end{*this};
  const Ordered ordered(device_, queue, uses);
  const On on(device_);
  check(op, entry, f(nccl, stream_of(device_, queue)));
  std::unique_ptr<Marker> marker = device_.create_marker(false);
  marker->record(queue);
  std::lock_guard<std::mutex> lock(mutex_);
  constexpr size_t kMany = 64;
  while (!calls_.empty() && (calls_.size() >= kMany || calls_.front().marker->done()))
    calls_.pop_front();
  calls_.push_back({op, current_.begun, std::move(marker)});
}

void Communicator::all_reduce(const char* op, char* data, int64_t count, DType t, Fold fold,
                              Queue* queue) {
  const Use uses[] = {use_of(data, count * itemsize(t), true)};
  call(op, "ncclAllReduce", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    return nccl.all_reduce(data, data, count_of(count), number_of(t), static_cast<int>(fold), comm_,
                           stream);
  });
}

void Communicator::reduce(const char* op, char* data, int64_t count, DType t, Fold fold, int root,
                          Queue* queue) {
  const Use uses[] = {use_of(data, count * itemsize(t), true)};
  call(op, "ncclReduce", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    return nccl.reduce(data, data, count_of(count), number_of(t), static_cast<int>(fold), root,
                       comm_, stream);
  });
}

void Communicator::reduce_scatter(const char* op, const char* from, char* to, int64_t count,
                                  DType t, Fold fold, Queue* queue) {
  const Use uses[] = {use_of(from, count * itemsize(t) * size_, false),
                      use_of(to, count * itemsize(t), true)};
  call(op, "ncclReduceScatter", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    return nccl.reduce_scatter(from, to, count_of(count), number_of(t), static_cast<int>(fold),
                               comm_, stream);
  });
}

void Communicator::broadcast(const char* op, char* data, int64_t bytes, int root, Queue* queue) {
  const Use uses[] = {use_of(data, bytes, true)};
  call(op, "ncclBroadcast", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    return nccl.broadcast(data, data, count_of(bytes), kBytes, root, comm_, stream);
  });
}

void Communicator::all_gather(const char* op, const char* from, char* to, int64_t bytes,
                              Queue* queue) {
  const Use uses[] = {use_of(from, bytes, false), use_of(to, bytes * size_, true)};
  call(op, "ncclAllGather", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    return nccl.all_gather(from, to, count_of(bytes), kBytes, comm_, stream);
  });
}

void Communicator::exchange(const char* op, std::span<const Message> messages, Queue* queue) {
  std::vector<Use> uses;
  for (const Message& m : messages) uses.push_back(use_of(m.data, m.bytes, !m.sends));
  call(op, "ncclGroupEnd", uses, queue, [&](const Api& nccl, StreamHandle stream) {
    Status failed = nccl.group_start();
    for (const Message& m : messages) {
      if (failed != kSuccess) break;
      failed = m.sends ? nccl.send(m.data, count_of(m.bytes), kBytes, m.peer, comm_, stream)
                       : nccl.receive(m.data, count_of(m.bytes), kBytes, m.peer, comm_, stream);
    }
    const Status status = nccl.group_end();
    return failed != kSuccess ? failed : status;
  });
}

Communicator::Waiting Communicator::oldest() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!calls_.empty() && calls_.front().marker->done()) calls_.pop_front();
  const Call* first = !calls_.empty() ? &calls_.front() : &current_;
  if (first->op.empty()) return {};
  return {first->op, now() - first->begun};
}

std::string Communicator::failure() {
  const Api& nccl = api();
  std::lock_guard<std::mutex> lock(mutex_);
  if (ended_ || !aborted_.empty()) return aborted_;
  Status status = kSuccess;
  const Status asked = nccl.async_error(comm_, &status);
  if (asked != kSuccess) status = asked;
  if (status == kSuccess || status == kInProgress) return {};
  return message("nccl", "a collective failed", text_of(nccl, status, comm_), "ncclSuccess");
}

void Communicator::abort(const std::string& why) {
  const Api& nccl = api();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_ || !aborted_.empty()) return;
    aborted_ = why;
  }
  // A call that is about to return ends before its communicator goes; one that waits for another
  // rank is what aborting is for.
  constexpr auto kPatience = std::chrono::milliseconds(200);
  std::unique_lock<std::timed_mutex> calling(calling_, kPatience);
  const On on(device_);
  nccl.abort(comm_);
}

void Communicator::destroy() {
  const Api& nccl = api();
  std::lock_guard<std::timed_mutex> calling(calling_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_ || !aborted_.empty()) return;
    ended_ = true;
    calls_.clear();
  }
  const On on(device_);
  check("destroy_process_group", "ncclCommDestroy", nccl.destroy(comm_));
}

}  // namespace numbus::vendor
