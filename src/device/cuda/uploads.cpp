// The thread copies into one half of pinned memory while the GPU reads the other one.
#include "device/cuda/uploads.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace numbus::cuda {
namespace {

constexpr size_t kHalf = size_t{4} << 20;

// One upload, which its owner and the thread share.
struct Job {
  Job(CudaDevice& d, std::vector<HostPiece> p)
      : device(d), pieces(std::move(p)), begin(d.create_event()), end(d.create_event()) {}
  CudaDevice& device;
  std::vector<HostPiece> pieces;
  Event begin, end;  // of the device's own stream when it was asked for; of the copies
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
};

// Never destroyed: the thread waits for work when the process ends.
class Uploader {
 public:
  explicit Uploader(CudaDevice& d) : device_(d), stream_(d.context()) {
    std::thread([this] { run(); }).detach();
  }

  void add(std::shared_ptr<Job> job) {
    {
      const std::lock_guard guard(mutex_);
      jobs_.push_back(std::move(job));
    }
    added_.notify_one();
  }

 private:
  struct Half {
    char* memory = nullptr;
    std::unique_ptr<Event> read;  // by the GPU
  };

  void run() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        added_.wait(lock, [&] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      std::exception_ptr failure;
      try {
        copy(*job);
      } catch (...) {
        failure = std::current_exception();
        settle();
      }
      {
        const std::lock_guard guard(job->mutex);
        job->failure = failure;
        job->done = true;
      }
      job->ended.notify_all();
    }
  }

  // What was queued before a failure still writes to memory that its owner will free.
  void settle() noexcept {
    try {
      const ContextScope scope(device_.context());
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The GPU is lost, and the memory with it.
    }
  }

  void copy(Job& job) {
    const ContextScope scope(device_.context());
    // The memory may be that of an array whose last use is queued there.
    stream_.wait(job.begin);
    auto doing = [] { return std::string("copying a batch to the GPU ahead of its use"); };
    for (const HostPiece& p : job.pieces)
      for (size_t at = 0; at < p.bytes; at += kHalf) {
        const size_t count = std::min(kHalf, p.bytes - at);
        Half& half = halves_[next_ ^= 1];
        if (!half.memory) {
          void* memory = nullptr;
          NUMBUS_CUDA(doing(), cuMemHostAlloc, &memory, kHalf, kHostPortable);
          half.memory = static_cast<char*>(memory);
          half.read = std::make_unique<Event>(device_.create_event());
        } else {
          half.read->synchronize();
        }
        std::memcpy(half.memory, static_cast<const char*>(p.from) + at, count);
        NUMBUS_CUDA(doing(), cuMemcpyHtoDAsync,
                    reinterpret_cast<DevicePointer>(static_cast<char*>(p.to) + at), half.memory,
                    count, stream_.handle());
        half.read->record(stream_);
      }
    job.end.record(stream_);
  }

  CudaDevice& device_;
  Stream stream_;
  Half halves_[2];
  int next_ = 0;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::shared_ptr<Job>> jobs_;
};

class Ahead final : public Upload {
 public:
  explicit Ahead(std::shared_ptr<Job> job) : job_(std::move(job)) {}

  void join() override {
    {
      std::unique_lock lock(job_->mutex);
      job_->ended.wait(lock, [&] { return job_->done; });
    }
    if (job_->failure) std::rethrow_exception(job_->failure);
    const ContextScope scope(job_->device.context());
    job_->device.stream().wait(job_->end);
  }

 private:
  std::shared_ptr<Job> job_;
};

}  // namespace

std::unique_ptr<Upload> upload_ahead(CudaDevice& device, std::vector<HostPiece> pieces) {
  static std::mutex mutex;
  static auto* all = new std::map<CudaDevice*, Uploader*>;
  Uploader* uploader = nullptr;
  {
    const std::lock_guard guard(mutex);
    Uploader*& known = (*all)[&device];
    if (!known) known = new Uploader(device);
    uploader = known;
  }
  const ContextScope scope(device.context());
  auto job = std::make_shared<Job>(device, std::move(pieces));
  job->begin.record(device.stream());
  uploader->add(job);
  return std::make_unique<Ahead>(std::move(job));
}

}  // namespace numbus::cuda
