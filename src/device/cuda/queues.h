// The streams of a GPU beside its main one: their marks, and memory that waits for them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/stop.h"
#include "device/cuda/stream.h"
#include "device/device.h"

namespace numbus::cuda {

class CudaDevice;

// Events for marks, used again and again: making one costs more than recording it.
class EventPool {
 public:
  explicit EventPool(ContextHandle context) : context_(context) {}
  std::unique_ptr<Event> take();
  void give(std::unique_ptr<Event> event);

 private:
  ContextHandle context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Event>> free_;
};

// Side streams by number, and what the order of uses asks of them.
class SideStreams final : public StreamOrder::Streams {
 public:
  SideStreams(ContextHandle context, const Stream& main)
      : events_(std::make_shared<EventPool>(context)), main_(main), order_(*this) {}

  StreamOrder& order() { return order_; }
  int add(const Stream& stream);
  void remove(int number);
  // What is queued now: in the streams that were made here, and elsewhere what is known of.
  std::vector<StreamOrder::Mark> all_marks();
  static void synchronize(const std::vector<StreamOrder::Mark>& marks);

  StreamOrder::Mark mark(int stream) override;
  void wait(int stream, const StreamOrder::Mark& mark) override;
  bool reached(const StreamOrder::Mark& mark) override;

 private:
  const Stream& stream_of(int number);
  StreamOrder::Mark mark_in(const Stream& stream);

  std::shared_ptr<EventPool> events_;
  const Stream& main_;
  std::mutex mutex_;
  std::map<int, const Stream*> streams_;
  int next_ = 1;
  StreamOrder order_;
};

class CudaQueue final : public Queue {
 public:
  CudaQueue(CudaDevice& device, Stream stream);
  ~CudaQueue() override;

  const Stream& stream() const { return stream_; }
  int number() const override { return number_; }
  std::uintptr_t handle() const override {
    return reinterpret_cast<std::uintptr_t>(stream_.handle());
  }
  int priority() const override { return stream_.priority(); }
  void synchronize() override { wait_interruptibly(stream_); }
  bool done() override { return stream_.done(); }

 private:
  CudaDevice& device_;
  Stream stream_;
  int number_;
};

class CudaMarker final : public Marker {
 public:
  CudaMarker(CudaDevice& device, bool timing);
  void record(Queue* queue) override;
  void hold(Queue* queue) override;
  void synchronize() override { wait_interruptibly(event_); }
  bool done() override { return event_.done(); }
  double milliseconds_since(Marker& start) override {
    return static_cast<double>(event_.elapsed_since(static_cast<CudaMarker&>(start).event_));
  }
  std::uintptr_t handle() const override {
    return reinterpret_cast<std::uintptr_t>(event_.handle());
  }

 private:
  CudaDevice& device_;
  Event event_;
};

}  // namespace numbus::cuda
