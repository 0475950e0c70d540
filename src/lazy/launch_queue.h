// Steps of a run that are complete and wait for the others, where the device launches all together.
#pragma once

#include <utility>
#include <vector>

#include "lazy/run.h"

namespace numbus {

class Runtime;

class LaunchQueue {
 public:
  // Told of a step that failed, with the exception at hand.
  class Losses {
   public:
    virtual void lose(KernelStep& step) = 0;

   protected:
    ~Losses() = default;
  };
  // told: somebody looks at what each step has computed.
  LaunchQueue(Runtime& runtime, Device& device, Run& run, const Window& w, bool told,
              Losses& losses);
  ~LaunchQueue();
  LaunchQueue(const LaunchQueue&) = delete;
  LaunchQueue& operator=(const LaunchQueue&) = delete;

  // Whether the next step waits, and is taken.
  bool take() { return open_ && ++count_; }
  // At the end of the run; false: there was nothing that waited.
  bool launch();
  // Gives back memory that a step of the run has used last: not before all that waits has been
  // launched, as libraries take memory for themselves when their calls are.
  void free(char* block, size_t bytes);
  // Launches what waits one by one; so are the steps after it.
  void close();
  // That of this thread: somebody is about to use the memory of arrays.
  static void close_present();

 private:
  void open();
  void launch_each();
  void free_all();

  Runtime& runtime_;
  Device& device_;
  Run& run_;
  const Window& window_;
  Losses& losses_;
  LaunchQueue* before_ = nullptr;
  bool open_ = false;
  size_t count_ = 0;
  std::vector<std::pair<char*, size_t>> freed_;
};

}  // namespace numbus
