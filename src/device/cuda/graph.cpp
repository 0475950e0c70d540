// Calls of the driver that capture, change and launch graphs.
#include "device/cuda/graph.h"

namespace numbus::cuda {
namespace {

// Calls that other captures would forbid, as of a library that loads a kernel, are allowed.
constexpr int kCaptureRelaxed = 2;
constexpr int kCaptureActive = 1;

}  // namespace

bool Graph::available() {
  const DriverApi& api = driver();
  return api.cuStreamBeginCapture && api.cuStreamEndCapture && api.cuStreamGetCaptureInfo &&
         api.cuGraphInstantiate && api.cuGraphLaunch && api.cuGraphExecKernelNodeSetParams &&
         api.cuGraphExecDestroy && api.cuGraphDestroy;
}

Graph::~Graph() {
  if (!cuda_available()) return;
  try {
    ContextScope scope(context_);
    if (exec_) driver().cuGraphExecDestroy(exec_);
    if (graph_) driver().cuGraphDestroy(graph_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The GPU is lost; whoever uses it next is told.
  }
}

void Graph::begin(const Stream& stream) {
  ContextScope scope(context_);
  NUMBUS_CUDA("capturing a stream", cuStreamBeginCapture, stream.handle(), kCaptureRelaxed);
}

bool Graph::last_nodes(const Stream& stream, std::vector<NodeHandle>& nodes) const {
  int status = 0;
  unsigned long long id = 0;
  GraphHandle graph = nullptr;
  const NodeHandle* last = nullptr;
  size_t count = 0;
  const Result result =
      driver().cuStreamGetCaptureInfo(stream.handle(), &status, &id, &graph, &last, &count);
  if (result != kSuccess || status != kCaptureActive) return false;
  nodes.assign(last, last + count);
  return true;
}

NodeHandle Graph::last_node(const Stream& stream) const {
  std::vector<NodeHandle> nodes;
  return last_nodes(stream, nodes) && nodes.size() == 1 ? nodes[0] : nullptr;
}

bool Graph::wait_for(const Stream& stream, std::vector<NodeHandle>& nodes) const {
  constexpr unsigned kInstead = 1;  // of what it would wait for
  const auto& update = driver().cuStreamUpdateCaptureDependencies;
  return update && update(stream.handle(), nodes.data(), nodes.size(), kInstead) == kSuccess;
}

bool Graph::end(const Stream& stream) {
  ContextScope scope(context_);
  if (driver().cuStreamEndCapture(stream.handle(), &graph_) != kSuccess || !graph_) {
    graph_ = nullptr;
    return false;
  }
  if (driver().cuGraphInstantiate(&exec_, graph_, 0) == kSuccess) return true;
  exec_ = nullptr;
  return false;
}

bool Graph::set(NodeHandle node, const Function& function, Dim3 grid, Dim3 block,
                void** parameters) {
  ContextScope scope(context_);
  KernelNodeParameters p{};
  p.function = function.handle();
  p.grid[0] = grid.x, p.grid[1] = grid.y, p.grid[2] = grid.z;
  p.block[0] = block.x, p.block[1] = block.y, p.block[2] = block.z;
  p.parameters = parameters;
  return driver().cuGraphExecKernelNodeSetParams(exec_, node, &p) == kSuccess;
}

bool Graph::copy_of(NodeHandle node, CopyParameters* copy) const {
  const auto& get = driver().cuGraphMemcpyNodeGetParams;
  return get && driver().cuGraphExecMemcpyNodeSetParams && get(node, copy) == kSuccess;
}

bool Graph::set_copy(NodeHandle node, const CopyParameters& copy) {
  ContextScope scope(context_);
  return driver().cuGraphExecMemcpyNodeSetParams(exec_, node, &copy, context_) == kSuccess;
}

void Graph::launch(const Stream& stream) const {
  ContextScope scope(context_);
  NUMBUS_CUDA("launching a graph", cuGraphLaunch, exec_, stream.handle());
}

}  // namespace numbus::cuda
