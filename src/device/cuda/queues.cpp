// Marks are events; the order of uses decides who waits for them.
#include "device/cuda/queues.h"

#include <algorithm>
#include <limits>

#include "device/cuda/cuda_device.h"

namespace numbus::cuda {
namespace {

const Event& event_of(const StreamOrder::Mark& mark) { return *static_cast<Event*>(mark.get()); }

}  // namespace

std::unique_ptr<Event> EventPool::take() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      auto event = std::move(free_.back());
      free_.pop_back();
      return event;
    }
  }
  return std::make_unique<Event>(context_);
}

void EventPool::give(std::unique_ptr<Event> event) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(event));
}

int SideStreams::add(const Stream& stream) {
  int number;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    number = next_++;
    streams_[number] = &stream;
  }
  order_.add_stream(number);
  return number;
}

void SideStreams::remove(int number) {
  order_.remove_stream(number);
  std::lock_guard<std::mutex> lock(mutex_);
  streams_.erase(number);
}

std::vector<StreamOrder::Mark> SideStreams::all_marks() {
  auto marks = order_.side_marks(0, std::numeric_limits<std::uintptr_t>::max());
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [number, stream] : streams_)
    if (stream->owned()) marks.push_back(mark_in(*stream));
  return marks;
}

void SideStreams::synchronize(const std::vector<StreamOrder::Mark>& marks) {
  for (const StreamOrder::Mark& mark : marks) wait_interruptibly(event_of(mark));
}

StreamOrder::Mark SideStreams::mark_in(const Stream& stream) {
  std::unique_ptr<Event> event = events_->take();
  event->record(stream);
  return {event.release(), [pool = events_](Event* e) { pool->give(std::unique_ptr<Event>(e)); }};
}

const Stream& SideStreams::stream_of(int number) {
  if (number == StreamOrder::kMain) return main_;
  std::lock_guard<std::mutex> lock(mutex_);
  return *streams_.at(number);
}

StreamOrder::Mark SideStreams::mark(int stream) { return mark_in(stream_of(stream)); }

void SideStreams::wait(int stream, const StreamOrder::Mark& mark) {
  stream_of(stream).wait(event_of(mark));
}

bool SideStreams::reached(const StreamOrder::Mark& mark) { return event_of(mark).reached(); }

CudaQueue::CudaQueue(CudaDevice& device, Stream stream)
    : Queue(device), device_(device), stream_(std::move(stream)) {
  number_ = device.enter_queue(stream_);
}

CudaQueue::~CudaQueue() { device_.leave_queue(number_); }

CudaMarker::CudaMarker(CudaDevice& device, bool timing)
    : device_(device), event_(device.create_event(timing)) {}

void CudaMarker::record(Queue* queue) { event_.record(device_.stream_of(queue)); }

void CudaMarker::hold(Queue* queue) { device_.stream_of(queue).wait(event_); }

}  // namespace numbus::cuda
