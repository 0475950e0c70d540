// The part of the CUDA driver's documented ABI that Numbus calls: types, constants, entry points.
#pragma once

#include <cstddef>
#include <cstdint>

namespace numbus::cuda {

using Result = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct CUctx_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using GraphHandle = struct CUgraph_st*;
using GraphExecHandle = struct CUgraphExec_st*;
using NodeHandle = struct CUgraphNode_st*;
using LinkHandle = struct CUlinkState_st*;

// CUDA_KERNEL_NODE_PARAMS_v2.
struct CopyEnd {  // of CUDA_MEMCPY3D
  size_t x = 0, y = 0, z = 0, level = 0;
  int kind = 0;  // CUmemorytype
  const void* host = nullptr;
  DevicePointer device = 0;
  void *array = nullptr, *reserved = nullptr;
  size_t pitch = 0, height = 0;
};
struct CopyParameters {
  CopyEnd from, to;
  size_t width = 0, height = 0, depth = 0;
};
struct KernelNodeParameters {
  FunctionHandle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;
  ContextHandle context;
};

enum : Result {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorOutOfMemory = 2,
  kErrorDeinitialized = 4,
  kErrorNoDevice = 100,
  kErrorInvalidPtx = 218,
  kErrorUnsupportedPtxVersion = 222,
  kErrorNotFound = 500,
  kErrorNotReady = 600,
  kErrorHostAlreadyRegistered = 712,
  kErrorIllegalAddress = 700,
  kErrorLaunchFailed = 719,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kClockKhz = 13,
  kMultiprocessors = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kCooperativeLaunch = 95,
  kMaxSharedPerBlockOptIn = 97,
};

enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstantBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionPtxVersion = 5,
  kFunctionBinaryVersion = 6,
  kFunctionCachesGlobals = 7,
  kFunctionMaxDynamicShared = 8,
  kFunctionSharedCarveout = 9,
};

enum JitOption : int {
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
};

enum LinkKind : int {
  kLinkCubin = 0,
  kLinkPtx = 1,
  kLinkFatbin = 2,
  kLinkObject = 3,
  kLinkArchive = 4,
};

constexpr int kLimitStackSize = 0;
constexpr int kPointerDeviceOrdinal = 9;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kStreamDefault = 0;
constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kHostPortable = 1;  // of cuMemHostAlloc and cuMemHostRegister alike
constexpr unsigned kHostMapped = 2;
constexpr unsigned kHostWriteCombined = 4;
constexpr unsigned kManagedGlobal = 1;

// X(member, exported symbol, argument types). The versioned symbol names are part of the ABI:
// cuda.h maps cuMemAlloc to cuMemAlloc_v2 and so on.
#define NUMBUS_CUDA_ENTRY_POINTS(X)                                                                \
  X(cuInit, cuInit, (unsigned))                                                                    \
  X(cuDriverGetVersion, cuDriverGetVersion, (int*))                                                \
  X(cuGetErrorName, cuGetErrorName, (Result, const char**))                                        \
  X(cuGetErrorString, cuGetErrorString, (Result, const char**))                                    \
  X(cuDeviceGetCount, cuDeviceGetCount, (int*))                                                    \
  X(cuDeviceGet, cuDeviceGet, (DeviceHandle*, int))                                                \
  X(cuDeviceGetName, cuDeviceGetName, (char*, int, DeviceHandle))                                  \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int*, int, DeviceHandle))                         \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t*, DeviceHandle))                                \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (ContextHandle*, DeviceHandle))            \
  X(cuCtxGetCurrent, cuCtxGetCurrent, (ContextHandle*))                                            \
  X(cuCtxSynchronize, cuCtxSynchronize, ())                                                        \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (ContextHandle))                                             \
  X(cuCtxGetLimit, cuCtxGetLimit, (size_t*, int))                                                  \
  X(cuCtxSetLimit, cuCtxSetLimit, (int, size_t))                                                   \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t*, size_t*))                                             \
  X(cuMemAlloc, cuMemAlloc_v2, (DevicePointer*, size_t))                                           \
  X(cuMemFree, cuMemFree_v2, (DevicePointer))                                                      \
  X(cuMemHostAlloc, cuMemHostAlloc, (void**, size_t, unsigned))                                    \
  X(cuMemFreeHost, cuMemFreeHost, (void*))                                                         \
  X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (DevicePointer*, void*, unsigned))    \
  X(cuMemHostRegister, cuMemHostRegister_v2, (void*, size_t, unsigned))                            \
  X(cuMemHostUnregister, cuMemHostUnregister, (void*))                                             \
  X(cuMemAllocManaged, cuMemAllocManaged, (DevicePointer*, size_t, unsigned))                      \
  X(cuPointerGetAttribute, cuPointerGetAttribute, (void*, int, DevicePointer))                     \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (DevicePointer, const void*, size_t, StreamHandle))   \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void*, DevicePointer, size_t, StreamHandle))         \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (DevicePointer, DevicePointer, size_t, StreamHandle)) \
  X(cuMemsetD8Async, cuMemsetD8Async, (DevicePointer, unsigned char, size_t, StreamHandle))        \
  X(cuStreamCreate, cuStreamCreate, (StreamHandle*, unsigned))                                     \
  X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, (StreamHandle*, unsigned, int))        \
  X(cuStreamGetPriority, cuStreamGetPriority, (StreamHandle, int*))                                \
  X(cuStreamDestroy, cuStreamDestroy_v2, (StreamHandle))                                           \
  X(cuStreamSynchronize, cuStreamSynchronize, (StreamHandle))                                      \
  X(cuStreamQuery, cuStreamQuery, (StreamHandle))                                                  \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned))                   \
  X(cuEventCreate, cuEventCreate, (EventHandle*, unsigned))                                        \
  X(cuEventDestroy, cuEventDestroy_v2, (EventHandle))                                              \
  X(cuEventRecord, cuEventRecord, (EventHandle, StreamHandle))                                     \
  X(cuEventQuery, cuEventQuery, (EventHandle))                                                     \
  X(cuEventSynchronize, cuEventSynchronize, (EventHandle))                                         \
  X(cuEventElapsedTime, cuEventElapsedTime, (float*, EventHandle, EventHandle))                    \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx, (ModuleHandle*, const void*, unsigned, int*, void**))  \
  X(cuModuleUnload, cuModuleUnload, (ModuleHandle))                                                \
  X(cuModuleGetFunction, cuModuleGetFunction, (FunctionHandle*, ModuleHandle, const char*))        \
  X(cuModuleGetGlobal, cuModuleGetGlobal_v2, (DevicePointer*, size_t*, ModuleHandle, const char*)) \
  X(cuFuncGetAttribute, cuFuncGetAttribute, (int*, int, FunctionHandle))                           \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (FunctionHandle, int, int))                            \
  X(cuLaunchKernel, cuLaunchKernel,                                                                \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     StreamHandle, void**, void**))                                                                \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                          \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     StreamHandle, void**))                                                                        \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,      \
    (int*, FunctionHandle, int, size_t))

// Null where the driver is older than they are.
#define NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(X)                                                       \
  X(cuFuncGetParamInfo, cuFuncGetParamInfo, (FunctionHandle, size_t, size_t*, size_t*)) /* 12.4 */ \
  X(cuLinkCreate, cuLinkCreate_v2, (unsigned, int*, void**, LinkHandle*))                          \
  X(cuLinkAddData, cuLinkAddData_v2,                                                               \
    (LinkHandle, int, void*, size_t, const char*, unsigned, int*, void**))                         \
  X(cuLinkComplete, cuLinkComplete, (LinkHandle, void**, size_t*))                                 \
  X(cuLinkDestroy, cuLinkDestroy, (LinkHandle))                                                    \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (StreamHandle, int))                            \
  X(cuStreamEndCapture, cuStreamEndCapture, (StreamHandle, GraphHandle*))                          \
  X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2,                                             \
    (StreamHandle, int*, unsigned long long*, GraphHandle*, const NodeHandle**, size_t*))          \
  X(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, /* 11.3 */               \
    (StreamHandle, NodeHandle*, size_t, unsigned))                                                 \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                               \
    (GraphExecHandle*, GraphHandle, unsigned long long))                                           \
  X(cuGraphLaunch, cuGraphLaunch, (GraphExecHandle, StreamHandle))                                 \
  X(cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, /* 10.0 */                             \
    (NodeHandle, CopyParameters*))                                                                 \
  X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, /* 10.2 */                     \
    (GraphExecHandle, NodeHandle, const CopyParameters*, ContextHandle))                           \
  X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, /* 12.0 */                  \
    (GraphExecHandle, NodeHandle, const KernelNodeParameters*))                                    \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (GraphExecHandle))                                     \
  X(cuGraphDestroy, cuGraphDestroy, (GraphHandle))

struct DriverApi {
#define NUMBUS_DECLARE(member, symbol, arguments) Result(*member) arguments = nullptr;
  NUMBUS_CUDA_ENTRY_POINTS(NUMBUS_DECLARE)
  NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(NUMBUS_DECLARE)
#undef NUMBUS_DECLARE
};

}  // namespace numbus::cuda
