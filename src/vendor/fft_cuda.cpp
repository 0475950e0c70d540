// Fourier transforms on an NVIDIA GPU, by cuFFT.
#include <list>
#include <mutex>
#include <string>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/entries.h"
#include "vendor/fft_form.h"
#include "vendor/scratch.h"

namespace numbus::vendor {
namespace {

// The part of cuFFT's documented ABI that Numbus calls.
using Handle = int;
using Status = int;
constexpr Status kSuccess = 0, kAllocationFailed = 2;
constexpr int kForward = -1, kInverse = 1;
// The kinds of FftForm, for float32 and for float64.
constexpr int kTypes[2][3] = {{0x29, 0x2a, 0x2c}, {0x69, 0x6a, 0x6c}};

using OneWay = Status(Handle, void* in, void* out);
using EitherWay = Status(Handle, void* in, void* out, int direction);

struct Api {
  explicit Api(const Library& from) : library(&from) {
    resolve(from, "cufftCreate", &create);
    resolve(from, "cufftDestroy", &destroy);
    resolve(from, "cufftSetAutoAllocation", &set_auto_allocation);
    resolve(from, "cufftMakePlanMany64", &make_plan);
    resolve(from, "cufftSetStream", &set_stream);
    resolve(from, "cufftSetWorkArea", &set_work_area);
    resolve(from, "cufftExecC2C", &complex[0]);
    resolve(from, "cufftExecZ2Z", &complex[1]);
    resolve(from, "cufftExecR2C", &from_real[0]);
    resolve(from, "cufftExecD2Z", &from_real[1]);
    resolve(from, "cufftExecC2R", &to_real[0]);
    resolve(from, "cufftExecZ2D", &to_real[1]);
  }
  const Library* library;
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_auto_allocation)(Handle, int);
  Status (*make_plan)(Handle, int rank, long long* n, long long* in_embed, long long in_stride,
                      long long in_distance, long long* out_embed, long long out_stride,
                      long long out_distance, int type, long long stack, size_t* work_bytes);
  Status (*set_stream)(Handle, cuda::StreamHandle);
  Status (*set_work_area)(Handle, void*);
  EitherWay* complex[2];  // by FftForm::wide
  OneWay *from_real[2], *to_real[2];
};

void check(Status status, const char* call, const FftForm& f) {
  if (status == kSuccess) return;
  std::string extents;
  for (int d = 0; d < f.rank; ++d)
    extents += (d ? " x " : "") + std::to_string(f.n[static_cast<size_t>(d)]);
  raise(status == kAllocationFailed ? ErrorKind::Memory : ErrorKind::Runtime, "fft",
        std::string(call) + " failed while transforming " + std::to_string(f.stack) + " times " +
            extents + " points",
        "cuFFT's status " + std::to_string(status), "CUFFT_SUCCESS (0)");
}

struct Plan {
  const Api* api;
  const cuda::CudaDevice* device;
  FftForm form;
  Handle handle;
  size_t work_bytes;
};

// The plans used last, the latest first. A plan must not be used by two threads at once.
std::mutex plans_mutex;
std::list<Plan>& plans() {
  // Never destroyed: the driver takes everything back at exit.
  static auto* all = new std::list<Plan>;
  return *all;
}

Plan make(const Api& api, cuda::CudaDevice& device, const FftForm& f) {
  Plan plan{&api, &device, f, 0, 0};
  check(api.create(&plan.handle), "cufftCreate", f);
  try {
    // Work areas come from the device's pool, for the time of a call.
    check(api.set_auto_allocation(plan.handle, 0), "cufftSetAutoAllocation", f);
    FftForm copy = f;  // cuFFT's arguments are not const
    check(api.make_plan(plan.handle, f.rank, copy.n.data(), copy.in.embed.data(), f.in.stride,
                        f.in.distance, copy.out.embed.data(), f.out.stride, f.out.distance,
                        kTypes[f.wide][f.kind], f.stack, &plan.work_bytes),
          "cufftMakePlanMany64", f);
  } catch (const Error&) {
    api.destroy(plan.handle);
    throw;
  }
  return plan;
}

// cuFFT's tables do not come from the pool, which may have to make room for them.
Plan make_with_room(const Api& api, cuda::CudaDevice& device, const FftForm& f) {
  try {
    return make(api, device, f);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Memory) throw;
  }
  device.trim();
  return make(api, device, f);
}

// The caller holds the lock, and the device's context is current.
const Plan& plan_for(const Api& api, cuda::CudaDevice& device, const FftForm& f) {
  std::list<Plan>& all = plans();
  for (auto p = all.begin(); p != all.end(); ++p) {
    if (p->api != &api || p->device != &device || p->form != f) continue;
    all.splice(all.begin(), all, p);
    return all.front();
  }
  all.push_front(make_with_room(api, device, f));
  if (all.size() > kFftPlans) {
    all.back().api->destroy(all.back().handle);
    all.pop_back();
  }
  return all.front();
}

}  // namespace

void fft_cuda(Device& d, const Transform& t, char* in, char* out) {
  const std::optional<FftForm> form = fft_form(t);
  if (!form) {
    raise(ErrorKind::Runtime, "fft", "internal error", "operands that cuFFT does not take",
          "a transform that fft_takes()");
  }
  auto& device = static_cast<cuda::CudaDevice&>(d);
  const Api& api = entries_of<Api>("cufft");
  std::lock_guard<std::mutex> lock(plans_mutex);
  cuda::ContextScope scope(device.context());
  const Plan& plan = plan_for(api, device, *form);
  Scratch work(device, plan.work_bytes);
  check(api.set_stream(plan.handle, device.stream().handle()), "cufftSetStream", *form);
  if (plan.work_bytes > 0)
    check(api.set_work_area(plan.handle, work.data()), "cufftSetWorkArea", *form);
  switch (form->kind) {
    case FftForm::ComplexToComplex:
      return check(api.complex[form->wide](plan.handle, in, out, t.inverse ? kInverse : kForward),
                   form->wide ? "cufftExecZ2Z" : "cufftExecC2C", *form);
    case FftForm::RealToComplex:
      return check(api.from_real[form->wide](plan.handle, in, out),
                   form->wide ? "cufftExecD2Z" : "cufftExecR2C", *form);
    case FftForm::ComplexToReal:
      return check(api.to_real[form->wide](plan.handle, in, out),
                   form->wide ? "cufftExecZ2D" : "cufftExecC2R", *form);
  }
}

}  // namespace numbus::vendor
