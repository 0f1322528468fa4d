#include "devices/cuda/dnn.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

#include <dlfcn.h>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "devices/cuda/gpu.hpp"

namespace troupe::cuda {

namespace {

constexpr std::size_t most_workspace = std::size_t{1} << 30;
constexpr std::size_t most_plans = 1024;
constexpr std::size_t most_candidates = 8; // of which each is tried
constexpr int dnn_not_supported = 3000;

Status no_dnn(std::string_view why) {
  return failed_precondition(
      str_cat("cuDNN, which computes convolutions on GPUs, is not to be had on this machine: ", why,
              "; install it (libcudnn 8 or 9) where the linker finds it, or in a folder of "
              "LD_LIBRARY_PATH"));
}

Result<DnnLibrary> load_dnn() {
  void* library = nullptr;
  for (const char* name : {"libcudnn.so.9", "libcudnn.so.8"})
    if (!library)
      library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return no_dnn(::dlerror());
  DnnLibrary out;
  const char* missing = nullptr;
#define TROUPE_CUDNN_FIND(result, name, parameters)                                                \
  if (!(out.name = reinterpret_cast<decltype(out.name)>(::dlsym(library, #name))))                 \
    missing = #name;
  TROUPE_CUDNN_FUNCTIONS(TROUPE_CUDNN_FIND)
#undef TROUPE_CUDNN_FIND
  if (missing)
    return no_dnn(str_cat("it has no ", missing));
  return out;
}

int dnn_type_of(DType dtype) {
  switch (dtype) {
  case DType::float64:
    return dnn_f64;
  case DType::float16:
    return dnn_f16;
  case DType::bfloat16:
    return dnn_bf16;
  default:
    return dnn_f32;
  }
}

bool is_narrow(const DnnConvolution& c) {
  return c.dtype == DType::float16 || c.dtype == DType::bfloat16;
}

/// Narrow floats lose nothing on tensor cores, which sum in float; floats keep their digits.
int math_of(const DnnConvolution& c) {
  return is_narrow(c)                ? dnn_math_tensor_op
         : c.dtype == DType::float64 ? dnn_math_default
                                     : dnn_math_fma;
}

/// Whether the algorithm sums products of the tensors' elements, rather than of transforms of them
/// (Fourier's or Winograd's).
bool sums_plainly(DnnResult result, int algorithm) {
  switch (result) {
  case DnnResult::y:
    return algorithm <= 3;
  case DnnResult::dx:
    return algorithm <= 1;
  default:
    return algorithm == 0 || algorithm == 1 || algorithm == 3;
  }
}

bool is_allowed(const DnnConvolution& c, const DnnAlgorithm& a) {
  const bool keeps_digits = is_narrow(c) || a.math == dnn_math_default || a.math == dnn_math_fma;
  return a.status == dnn_success && keeps_digits && a.memory <= most_workspace &&
         (!c.has_plain_sums ||
          (sums_plainly(c.result, a.algorithm) && a.determinism == dnn_deterministic));
}

/// Sizes and strides are ints.
bool fits(const DnnConvolution& c) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto counts = [](std::initializer_list<std::int64_t> dims) {
    std::int64_t product = 1;
    for (std::int64_t dim : dims)
      if (dim < 1 || dim > most || (product *= dim) > most)
        return false;
    return true;
  };
  return counts({c.batch, c.in_h, c.in_w, c.in_c}) &&
         counts({c.batch, c.out_h, c.out_w, c.out_c}) &&
         counts({c.out_c, c.filter_h, c.filter_w, c.in_c}) &&
         std::max({c.stride_h, c.stride_w, c.dilation_h, c.dilation_w, c.pad_h, c.pad_w}) <= most;
}

std::string sentence_of(const DnnConvolution& c) {
  constexpr const char* names[] = {"a convolution", "the gradient by the images of a convolution",
                                   "the gradient by the filter of a convolution"};
  return str_cat(names[static_cast<std::size_t>(c.result)], " of ", to_string(c.dtype), " images [",
                 c.batch, ",", c.in_h, ",", c.in_w, ",", c.in_c, "] with a filter of ", c.filter_h,
                 " x ", c.filter_w, " to [", c.batch, ",", c.out_h, ",", c.out_w, ",", c.out_c,
                 "]");
}

/// Measures what is enqueued on a GPU's compute stream, by the GPU's clock.
class Stopwatch {
public:
  explicit Stopwatch(Gpu& gpu) : gpu_(gpu) {}
  ~Stopwatch() {
    for (EventHandle event : {begin_, end_})
      if (event)
        gpu_.driver().cuEventDestroy_v2(event);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  Status start() { return record(begin_); }
  /// Milliseconds from start(); waits until they are over.
  Result<float> stop() {
    float milliseconds = 0;
    TROUPE_TRY(record(end_));
    TROUPE_TRY(check(gpu_.driver().cuEventSynchronize(end_)));
    TROUPE_TRY(check(gpu_.driver().cuEventElapsedTime(&milliseconds, begin_, end_)));
    return milliseconds;
  }

private:
  Status record(EventHandle& event) {
    if (!event)
      TROUPE_TRY(check(gpu_.driver().cuEventCreate(&event, 0)));
    return check(gpu_.driver().cuEventRecord(event, gpu_.compute().handle()));
  }
  Status check(Outcome outcome) {
    if (outcome == success)
      return {};
    Status status = failure(gpu_.driver(), "measuring a convolution", outcome);
    return gpu_.is_lost_by(status, outcome) ? gpu_.lost() : status;
  }

  Gpu& gpu_;
  EventHandle begin_ = nullptr, end_ = nullptr;
};

} // namespace

Result<const DnnLibrary*> DnnLibrary::open() {
  static const Result<DnnLibrary> loaded = load_dnn();
  if (!loaded.ok())
    return loaded.status();
  return &*loaded;
}

// ---- plans; statuses are cuDNN's

DnnPlan::~DnnPlan() {
  if (x_)
    library_.cudnnDestroyTensorDescriptor(x_);
  if (y_)
    library_.cudnnDestroyTensorDescriptor(y_);
  if (filter_)
    library_.cudnnDestroyFilterDescriptor(filter_);
  if (how_)
    library_.cudnnDestroyConvolutionDescriptor(how_);
}

int DnnPlan::describe() {
  const DnnConvolution& c = convolution_;
  const int type = dnn_type_of(c.dtype), format = c.in_planes ? dnn_nchw : dnn_nhwc;
  const auto narrow = [](std::int64_t size) { return static_cast<int>(size); };
  for (DnnTensorHandle* tensor : {&x_, &y_})
    if (int status = library_.cudnnCreateTensorDescriptor(tensor); status != dnn_success)
      return status;
  if (int status = library_.cudnnCreateFilterDescriptor(&filter_); status != dnn_success)
    return status;
  if (int status = library_.cudnnCreateConvolutionDescriptor(&how_); status != dnn_success)
    return status;
  if (int status = library_.cudnnSetTensor4dDescriptor(
          x_, format, type, narrow(c.batch), narrow(c.in_c), narrow(c.in_h), narrow(c.in_w));
      status != dnn_success)
    return status;
  if (int status = library_.cudnnSetTensor4dDescriptor(
          y_, format, type, narrow(c.batch), narrow(c.out_c), narrow(c.out_h), narrow(c.out_w));
      status != dnn_success)
    return status;
  if (int status = library_.cudnnSetFilter4dDescriptor(filter_, type, format, narrow(c.out_c),
                                                       narrow(c.in_c), narrow(c.filter_h),
                                                       narrow(c.filter_w));
      status != dnn_success)
    return status;
  return library_.cudnnSetConvolution2dDescriptor(
      how_, narrow(c.pad_h), narrow(c.pad_w), narrow(c.stride_h), narrow(c.stride_w),
      narrow(c.dilation_h), narrow(c.dilation_w), dnn_cross_correlation,
      c.dtype == DType::float64 ? dnn_f64 : dnn_f32);
}

int DnnPlan::measure_workspace(DnnHandle handle, int algorithm, std::size_t& bytes) const {
  switch (convolution_.result) {
  case DnnResult::y:
    return library_.cudnnGetConvolutionForwardWorkspaceSize(handle, x_, filter_, how_, y_,
                                                            algorithm, &bytes);
  case DnnResult::dx:
    return library_.cudnnGetConvolutionBackwardDataWorkspaceSize(handle, filter_, y_, how_, x_,
                                                                 algorithm, &bytes);
  default:
    return library_.cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x_, y_, how_, filter_,
                                                                   algorithm, &bytes);
  }
}

int DnnPlan::find(DnnHandle handle) {
  // What it finds depends on this.
  if (int status = library_.cudnnSetConvolutionMathType(how_, math_of(convolution_));
      status != dnn_success)
    return status;
  std::array<DnnAlgorithm, 16> found;
  const int most = static_cast<int>(found.size());
  int count = 0, status = dnn_success;
  switch (convolution_.result) {
  case DnnResult::y:
    status = library_.cudnnGetConvolutionForwardAlgorithm_v7(handle, x_, filter_, how_, y_, most,
                                                             &count, found.data());
    break;
  case DnnResult::dx:
    status = library_.cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, filter_, y_, how_, x_,
                                                                  most, &count, found.data());
    break;
  default:
    status = library_.cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x_, y_, how_, filter_,
                                                                    most, &count, found.data());
  }
  if (status != dnn_success)
    return status;
  // The quickest, as cuDNN expects, come first.
  for (int i = 0; i < std::min(count, most) && candidates_.size() < most_candidates; ++i) {
    const DnnAlgorithm& one = found[static_cast<std::size_t>(i)];
    // An algorithm of narrow floats is meant with its own arithmetic. That of floats stays ours:
    // the default would let them lose digits.
    Candidate candidate{.algorithm = one.algorithm,
                        .math = is_narrow(convolution_) ? one.math : math_of(convolution_)};
    const auto is_same = [&](const Candidate& other) {
      return other.algorithm == candidate.algorithm && other.math == candidate.math;
    };
    if (!is_allowed(convolution_, one) || std::ranges::any_of(candidates_, is_same) ||
        library_.cudnnSetConvolutionMathType(how_, candidate.math) != dnn_success ||
        measure_workspace(handle, candidate.algorithm, candidate.workspace) != dnn_success ||
        candidate.workspace > most_workspace)
      continue;
    candidates_.push_back(candidate);
    if (convolution_.has_plain_sums) // one is not measured: every run of a program takes the same
      break;
  }
  note_workspaces();
  return candidates_.empty() ? dnn_not_supported : dnn_success;
}

void DnnPlan::note_workspaces() {
  std::size_t least = 0, most = 0;
  for (const Candidate& candidate : candidates_) {
    least = &candidate == candidates_.data() ? candidate.workspace
                                             : std::min(least, candidate.workspace);
    most = std::max(most, candidate.workspace);
  }
  least_workspace_ = least;
  workspace_ = is_chosen_ && !candidates_.empty() ? candidates_.front().workspace : most;
}

int DnnPlan::run(DnnHandle handle, const Candidate& candidate, const Operands& operands) const {
  const auto& [a, b, out, workspace, bytes] = operands;
  if (int status = library_.cudnnSetConvolutionMathType(how_, candidate.math);
      status != dnn_success)
    return status;
  const bool is_double = convolution_.dtype == DType::float64;
  const float one_f32 = 1, zero_f32 = 0;
  const double one_f64 = 1, zero_f64 = 0;
  const void* one = is_double ? static_cast<const void*>(&one_f64) : &one_f32;
  const void* zero = is_double ? static_cast<const void*>(&zero_f64) : &zero_f32;
  switch (convolution_.result) {
  case DnnResult::y:
    return library_.cudnnConvolutionForward(handle, one, x_, a, filter_, b, how_,
                                            candidate.algorithm, workspace, bytes, zero, y_, out);
  case DnnResult::dx:
    return library_.cudnnConvolutionBackwardData(
        handle, one, filter_, a, y_, b, how_, candidate.algorithm, workspace, bytes, zero, x_, out);
  default:
    return library_.cudnnConvolutionBackwardFilter(
        handle, one, x_, a, y_, b, how_, candidate.algorithm, workspace, bytes, zero, filter_, out);
  }
}

// ---- of a GPU

Result<std::unique_ptr<Dnn>> Dnn::make(Gpu& gpu, const DnnLibrary& library) {
  TROUPE_TRY(gpu.activate());
  const auto failed_to = [&](std::string_view what, int status) {
    return internal(str_cat(what, " by cuDNN on GPU ", gpu.ordinal(), " failed: ",
                            library.cudnnGetErrorString(status), " (its status ", status, ")"));
  };
  DnnHandle handle = nullptr;
  if (int status = library.cudnnCreate(&handle); status != dnn_success)
    return failed_to("starting", status);
  std::unique_ptr<Dnn> out(new Dnn(gpu, library, handle));
  if (int status = library.cudnnSetStream(handle, gpu.compute().handle()); status != dnn_success)
    return failed_to("choosing a stream", status);
  return out;
}

Dnn::~Dnn() {
  plans_.clear();
  if (gpu_.activate().ok())
    library_.cudnnDestroy(handle_);
}

// Whoever runs a plan holds it, so all may go.
void Dnn::keep(const DnnConvolution& convolution, std::shared_ptr<DnnPlan> plan) {
  if (plans_.size() >= most_plans)
    plans_.clear();
  plans_.insert_or_assign(convolution, std::move(plan));
}

// A GPU of no use any more refuses everything else as well, so that error is not cuDNN's.
Status Dnn::refused(const DnnConvolution& convolution, std::string_view what, int status) {
  TROUPE_TRY(gpu_.lost());
  log_info("cuDNN on GPU ", gpu_.ordinal(), " does not compute ", sentence_of(convolution), ": ",
           what, ": ", library_.cudnnGetErrorString(status), " (its status ", status,
           "); it is computed without, which takes longer");
  keep(convolution, nullptr);
  return {};
}

Result<std::shared_ptr<DnnPlan>> Dnn::plan(const DnnConvolution& convolution) {
  std::scoped_lock guard(lock_);
  if (auto known = plans_.find(convolution); known != plans_.end())
    return known->second;
  TROUPE_TRY(gpu_.activate());
  std::shared_ptr<DnnPlan> made(new DnnPlan(library_, convolution));
  int status = fits(convolution) ? made->describe() : dnn_not_supported;
  const char* what = "describing it";
  if (status == dnn_success) {
    status = made->find(handle_);
    what = "finding an algorithm";
  }
  if (status != dnn_success) {
    TROUPE_TRY(refused(convolution, what, status));
    return std::shared_ptr<DnnPlan>();
  }
  keep(convolution, made);
  return made;
}

/// Tries all, and leaves those that run, the quickest first.
Status Dnn::choose(DnnPlan& plan, const DnnPlan::Operands& operands, int& status) {
  Stopwatch watch(gpu_);
  std::vector<DnnPlan::Candidate> measured;
  for (DnnPlan::Candidate candidate : plan.candidates_) {
    status = plan.run(handle_, candidate, operands); // loads its code
    if (status != dnn_success)
      continue;
    TROUPE_TRY(watch.start());
    status = plan.run(handle_, candidate, operands);
    TROUPE_ASSIGN(candidate.milliseconds, watch.stop());
    if (status == dnn_success)
      measured.push_back(candidate);
  }
  std::ranges::stable_sort(measured, {}, &DnnPlan::Candidate::milliseconds);
  if (!measured.empty())
    log_debug("cuDNN on GPU ", gpu_.ordinal(), " computes ", sentence_of(plan.convolution()),
              " by its algorithm ", measured.front().algorithm, " in ",
              measured.front().milliseconds, " ms, the quickest of ", measured.size());
  plan.candidates_ = std::move(measured);
  plan.is_chosen_ = true;
  plan.note_workspaces();
  return {};
}

Result<bool> Dnn::run(DnnPlan& plan, const void* a, const void* b, void* out, void* workspace,
                      std::size_t bytes) {
  TROUPE_TRY(gpu_.lost());
  TROUPE_TRY(gpu_.activate());
  std::scoped_lock guard(lock_);
  std::vector<DnnPlan::Candidate>& candidates = plan.candidates_;
  if (candidates.empty()) // since the caller asked for the plan
    return false;
  const DnnPlan::Operands operands{a, b, out, workspace, bytes};
  int status = dnn_success;
  if (!plan.is_chosen_ && candidates.size() > 1 && bytes >= plan.workspace())
    TROUPE_TRY(choose(plan, operands, status));
  for (auto candidate = candidates.begin(); candidate != candidates.end();) {
    if (candidate->workspace > bytes) {
      ++candidate;
      continue;
    }
    status = plan.run(handle_, *candidate, operands);
    if (status == dnn_success)
      return true;
    candidate = candidates.erase(candidate);
    plan.note_workspaces();
  }
  if (candidates.empty())
    TROUPE_TRY(refused(plan.convolution(), "running it", status));
  return false;
}

} // namespace troupe::cuda
