// Work of a stream that was captured and can be launched again as a whole.
#pragma once

#include <utility>
#include <vector>

#include "device/cuda/module.h"

namespace numbus::cuda {

class Graph {
 public:
  explicit Graph(ContextHandle context) : context_(context) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Whether the driver has all that is needed (CUDA 12.0 and newer).
  static bool available();
  // What this thread queues in the stream from here on is kept, and not done.
  void begin(const Stream& stream);
  // The kernel or copy that was queued last; null where that cannot be told.
  NodeHandle last_node(const Stream& stream) const;
  // What the next kernel or copy waits for; false where that cannot be told.
  bool last_nodes(const Stream& stream, std::vector<NodeHandle>& nodes) const;
  // Has it wait for these instead; false where the driver cannot.
  bool wait_for(const Stream& stream, std::vector<NodeHandle>& nodes) const;
  // False where the stream was given something that cannot be captured: there is no graph then, and
  // nothing of it has been done.
  bool end(const Stream& stream);
  // Another launch of the same kernel in its place, from the next launch of the graph on.
  bool set(NodeHandle node, const Function& function, Dim3 grid, Dim3 block, void** parameters);
  // The copy that a node is, and another source for it, from the next launch of the graph on;
  // false: the node is none, or cannot be changed.
  bool copy_of(NodeHandle node, CopyParameters* copy) const;
  bool set_copy(NodeHandle node, const CopyParameters& copy);
  void launch(const Stream& stream) const;

 private:
  ContextHandle context_;
  GraphHandle graph_ = nullptr;
  GraphExecHandle exec_ = nullptr;
};

}  // namespace numbus::cuda
