// Grids of python/numbus/primitives/convolution.py.
#include "lazy/grid_convolution.h"

#include <algorithm>

#include "device/cuda/cuda_device.h"
#include "routines/kernels.h"

namespace numbus::grid_convolution {
namespace {

using routines::divide_up;
using routines::KernelLaunch;
using routines::round_up;
using routines::Scratch;
using vendor::Convolution;

constexpr int64_t kThreads = 128, kDepth = 16;
// Of staged kernels: channels and pixels of a stage, lines of a warp.
constexpr int64_t kStage = 8, kSpan = 368, kLines = 32;
constexpr int64_t kRow = 3;  // taps of factors of TF32 are filled up to a multiple
constexpr int64_t kMostTaps = 32;
// Of few products (few_channels.py): threads, results of a thread, blocks of derivatives.
constexpr int64_t kFewProducts = 32, kFewThreads = 256, kFewResults = 16;
constexpr int64_t kFewerProducts = 16, kFewLines = 4, kFewBlocks = 264;
// Blocks that keep a large GPU busy, whatever the card: they decide on the order of sums.
constexpr int64_t kManyBlocks = 264, kBlocksOfGradients = 396;
constexpr int64_t kFloat = sizeof(float);

// Of tiles: how many results (lines) and positions or weights (columns) a block computes.
struct Tile {
  int64_t lines, columns;
};

struct Work {
  std::string kernel;  // of the products
  Tile tile{};
  enum Weights { AsTheyLie, ByTap, Factors } weights = ByTap;  // how its weights lie
  int64_t channels = 0, results = 0;                           // of the products' image and result
  Convolution::Pair image{}, result{}, padding{};
  int64_t parts = 1, each = 0;  // of the positions, of a derivative by weights
  int64_t threads = kThreads;
};

// Whether a result is the sum of few products.
bool is_few(const Convolution& c) {
  if (c.kind == Convolution::Input) return false;
  return c.in_channels * c.taps() <=
         (c.kind == Convolution::Weight ? kFewerProducts : kFewProducts);
}

std::string name_of(const char* kind, const Tile& t, bool tf32) {
  return std::string(kind) + "_" + std::to_string(t.lines) + "_" + std::to_string(t.columns) +
         (tf32 ? "_tf32" : "");
}

// Whether what all taps meet of a block's positions fits a stage (staged_convolution.py): the
// pixels from the first to the last one, in the image with its padding.
bool fits_a_stage(const Convolution& c, const Work& w) {
  const bool strided = c.kind != Convolution::Input && c.stride != Convolution::Pair{1, 1};
  if (strided || w.channels % kStage != 0) return false;
  // A single tap would be filled up to three.
  if (c.tf32 && 2 * c.taps() < round_up(c.taps(), kRow)) return false;
  Convolution::Pair reach{};  // of the taps
  for (size_t d = 0; d < 2; ++d) reach[d] = (c.kernel[d] - 1) * c.dilation[d];
  const int64_t wide = w.result[1] + reach[1];
  const int64_t positions = w.result[0] * w.result[1];
  // Ends of rows and of images that lie between the first and the last position at most.
  const int64_t steps = w.tile.columns - 1;
  const int64_t rows = divide_up(steps, w.result[1]), images = divide_up(steps, positions);
  const int64_t between = steps + rows * reach[1] + images * reach[0] * wide;
  // Of an image's elements, offsets within a block are numbers of 32 bits.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const int64_t apart = std::max(w.channels * w.image[0] * w.image[1], w.results * positions);
  if (wide * (w.result[0] + reach[0]) > kMost / 2) return false;
  return between + reach[0] * wide + reach[1] + 1 <= kSpan && (images + 1) * apart <= kMost;
}

// A derivative by the input is a convolution of the results' derivatives by the weights backwards.
Work of_images(const Convolution& c) {
  Work w;
  const bool forward = c.kind == Convolution::Forward;
  w.channels = forward ? c.in_channels : c.out_channels;
  w.results = forward ? c.out_channels : c.in_channels;
  w.image = forward ? c.in : c.out;
  w.result = forward ? c.out : c.in;
  w.padding = c.padding;
  if (!forward)
    for (size_t d = 0; d < 2; ++d) w.padding[d] = c.dilation[d] * (c.kernel[d] - 1) - c.padding[d];
  const int64_t positions = c.batch * w.result[0] * w.result[1];
  if (is_few(c)) {
    w.weights = Work::AsTheyLie;
    w.tile = {kFewResults, kFewThreads};
    w.threads = kFewThreads;
    w.kernel = "few_images_" + std::to_string(w.channels * c.taps());
    return w;
  }
  constexpr Tile kNarrow{32, 128}, kSmall{64, 64}, kLarge{64, 128};
  const int64_t blocks = divide_up(w.results, kLarge.lines) * divide_up(positions, kLarge.columns);
  // Of few blocks more than the GPU takes at a time, halves leave less of it idle.
  const bool few = blocks < kManyBlocks || (!c.tf32 && blocks < 3 * kManyBlocks / 2);
  w.tile = w.results <= kNarrow.lines ? kNarrow : few ? kSmall : kLarge;
  if (fits_a_stage(c, w))
    w.weights = Work::Factors;
  else if (w.channels % kDepth != 0)
    w.weights = Work::AsTheyLie;
  constexpr const char* kKernels[] = {"flat", "images", "staged"};
  w.kernel = name_of(kKernels[w.weights], w.tile, c.tf32);
  return w;
}

Work of_weights(const Convolution& c) {
  Work w;
  w.channels = c.in_channels;
  w.results = c.out_channels;
  w.image = c.in;
  w.result = c.out;
  w.padding = c.padding;
  const int64_t columns = c.taps() * c.in_channels;
  constexpr int64_t kLessLines = 32, kManyLines = 64, kFewColumns = 32, kManyColumns = 96;
  const int64_t positions = c.batch * c.positions();
  if (is_few(c)) {
    w.tile = {kFewLines, columns};
    w.threads = kFewThreads;
    w.kernel = "few_gradients_" + std::to_string(columns);
    if (c.padding != Convolution::Pair{0, 0}) w.kernel += "_padded";
    w.parts = std::clamp<int64_t>(kFewBlocks / divide_up(w.results, w.tile.lines), 1,
                                  divide_up(positions, kFewThreads));
    w.each = divide_up(positions, w.parts);
    w.parts = divide_up(positions, w.each);
    return w;
  }
  w.tile = {w.results <= kLessLines || columns <= kFewColumns ? kLessLines : kManyLines,
            columns <= kFewColumns ? kFewColumns : kManyColumns};
  w.kernel = name_of("gradients", w.tile, c.tf32);
  const int64_t tiles = divide_up(w.results, w.tile.lines) * divide_up(columns, w.tile.columns);
  constexpr int64_t kFewPositions = 256;
  const int64_t most = std::max<int64_t>(divide_up(positions, kFewPositions), 1);
  w.parts = std::clamp<int64_t>(divide_up(kBlocksOfGradients, tiles), 1, most);
  w.each = round_up(divide_up(positions, w.parts), kDepth);
  w.parts = divide_up(positions, w.each);
  return w;
}

Work work_of(const Convolution& c) {
  return c.kind == Convolution::Weight ? of_weights(c) : of_images(c);
}

// `weights`: those, or the derivatives by the results.
void launch(Device& device, const Convolution& c, const Work& w, const char* image,
            int64_t image_size, const char* weights, int64_t weights_size, char* out,
            int64_t out_size, const std::array<int64_t, 3>& blocks) {
  KernelLaunch l(device, "convolve_" + w.kernel, DType::F32);
  l.out(out, out_size, kFloat).in(image, image_size, kFloat).in(weights, weights_size, kFloat);
  const Convolution::Pair stride =
      c.kind == Convolution::Input ? Convolution::Pair{1, 1} : c.stride;
  l.number(c.batch).number(w.channels).number(w.results);
  auto pair = [&](const Convolution::Pair& p) { l.number(p[0]).number(p[1]); };
  for (const auto& p : {w.image, w.result, c.kernel}) pair(p);
  if (w.weights != Work::Factors) pair(stride);  // of staged kernels it is one
  for (const auto& p : {w.padding, c.dilation}) pair(p);
  if (c.kind == Convolution::Weight) l.number(w.each);
  l.run(blocks, w.threads);
}

}  // namespace

bool fits(const Convolution& c) {
  constexpr int64_t kMost = int64_t{1} << 30;
  auto below = [&](int64_t a, int64_t b) { return a <= kMost && b <= kMost && a * b <= kMost; };
  const bool small = below(c.batch, c.positions()) && below(c.batch, c.in[0] * c.in[1]) &&
                     below(c.in_channels, c.in[0] * c.in[1]) &&
                     below(c.out_channels, c.positions()) &&
                     below(c.out_channels, c.in_channels * c.taps()) && below(c.in[0], c.in[1]);
  // Of a grid's second and third axis, and of numbers of 32 bits.
  constexpr int64_t kMostLines = 1 << 20;
  if (c.out_channels > kMostLines || c.in_channels * c.taps() > kMostLines) return false;
  for (const auto& pair : {c.stride, c.padding, c.dilation})
    if (pair[0] > kMostLines || pair[1] > kMostLines) return false;
  if (c.type != DType::F32 || c.groups != 1 || c.taps() > kMostTaps || !small) return false;
  constexpr int64_t kDeepest = 1024;  // where channels are no multiple of kDepth
  if (c.kind == Convolution::Weight) return true;
  if (c.kind == Convolution::Input && c.stride != Convolution::Pair{1, 1}) return false;
  const int64_t channels = c.kind == Convolution::Forward ? c.in_channels : c.out_channels;
  if (channels % kDepth == 0 || of_images(c).weights == Work::Factors) return true;
  return c.kind == Convolution::Forward && channels * c.taps() <= kDeepest;
}

std::vector<std::string> kernels(const Convolution& c) {
  if (!fits(c)) return {};
  const Work w = work_of(c);
  if (c.kind == Convolution::Weight) return {w.kernel, "sum"};
  if (w.weights == Work::AsTheyLie) return {w.kernel};
  return {w.kernel, w.weights == Work::Factors ? "factors" : "weights"};
}

constinit bool always = false;

bool runs_on(const Device& device) {
  constexpr int kFirst = 80;  // compute capability with tensor cores for TF32
  if (!device.runs_ptx()) return always && !device.counts_only();
  const auto& gpu = static_cast<const cuda::CudaDevice&>(device);
  return gpu.properties().compute_capability() >= kFirst;
}

bool is_chosen(const Device& device, const Convolution& c) {
  if (!runs_on(device) || !fits(c)) return false;
  constexpr int64_t kFew = 32, kSome = 64;  // channels
  if (always || !vendor::has_cudnn() || (is_few(c) && c.out_channels <= kSome)) return true;
  if (c.kind != Convolution::Weight) {
    if (c.in_channels > kSome || c.out_channels > kSome) return false;
    if (of_images(c).weights != Work::Factors) return false;
    constexpr int64_t kManyPositions = 1 << 16;
    return c.tf32 || (c.kind == Convolution::Forward && c.batch * c.positions() >= kManyPositions);
  }
  if (c.tf32) return c.in_channels <= kFew && c.out_channels <= kSome;
  return c.taps() == 1 || (c.in_channels <= kSome && c.out_channels <= kSome);
}

bool is_ready(const Device& device, const Convolution& c) {
  return is_chosen(device, c) && std::ranges::all_of(kernels(c), [](const auto& name) {
           return routines::has_device_kernel("convolve_" + name, DType::F32);
         });
}

void run(Device& device, const Convolution& c, const char* a, const char* b, char* out) {
  const Work w = work_of(c);
  const int64_t images = c.batch * w.channels * w.image[0] * w.image[1];
  const int64_t all = c.out_channels * c.in_channels * c.taps();
  if (c.kind == Convolution::Weight) {
    const int64_t columns = c.taps() * c.in_channels;
    const int64_t results = c.batch * c.out_channels * c.positions();
    Scratch parts(device, w.parts * all * kFloat);
    launch(device, c, w, a, images, b, results, parts.data(), w.parts * all,
           {w.parts, divide_up(columns, w.tile.columns), divide_up(w.results, w.tile.lines)});
    KernelLaunch(device, "convolve_sum", DType::F32)
        .out(out, all, kFloat)
        .in(parts.data(), w.parts * all, kFloat)
        .number(w.parts)
        .number(c.out_channels)
        .number(c.in_channels)
        .number(c.taps())
        .run(divide_up(all, kThreads), kThreads);
    return;
  }
  const bool forward = c.kind == Convolution::Forward;
  const char *image = a, *given = b;
  const int64_t positions = c.batch * w.result[0] * w.result[1];
  const std::array<int64_t, 3> blocks{divide_up(positions, w.tile.columns),
                                      divide_up(w.results, w.tile.lines), 1};
  const int64_t size = c.batch * w.results * w.result[0] * w.result[1];
  if (w.weights == Work::AsTheyLie)
    return launch(device, c, w, image, images, given, all, out, size, blocks);
  const int64_t of_result = c.in_channels * c.taps();  // from one result's weights to the next
  const bool factors = w.weights == Work::Factors;
  // Factors are filled up to the lines of a warp; of float32 they have two parts.
  const int64_t lines = factors ? round_up(w.results, kLines) : w.results;
  const int64_t parts = factors && !c.tf32 ? 2 : 1;
  const int64_t taps = factors && c.tf32 ? round_up(c.taps(), kRow) : c.taps();
  const int64_t numbers = taps * w.channels * lines;
  // Staged kernels read the factors of two more taps, which nobody uses.
  const int64_t beyond = factors ? 2 * kStage * lines : 0;
  Scratch weights(device, (numbers + beyond) * parts * kFloat);
  KernelLaunch copies(device, factors ? "convolve_factors" : "convolve_weights", DType::F32);
  copies.out(weights.data(), numbers * parts, kFloat)
      .in(given, all, kFloat)
      .number(w.results)
      .number(w.channels)
      .number(c.taps())
      .number(forward ? of_result : c.taps())
      .number(forward ? c.taps() : of_result)
      .number(!forward);
  if (factors) copies.number(parts);
  copies.run(divide_up(numbers, kThreads), kThreads);
  launch(device, c, w, image, images, weights.data(), (numbers + beyond) * parts, out, size,
         blocks);
}

}  // namespace numbus::grid_convolution
