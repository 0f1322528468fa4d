// cuDNN, as the double answers it: plain sums on the host, in the order of the stream. Of its
// algorithms the first is refused, one is Winograd's, one lets floats lose digits, one wants more
// memory than there is; what is left wants some. Tests may make one slower than it is.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/strings.hpp"
#include "core/tensor/types.hpp"
#include "devices/cuda/dnn.hpp"
#include "tests/support/cuda/internal/machine.hpp"

namespace troupe::cuda {
struct cudnnContext {
  StreamHandle stream = nullptr;
};
struct cudnnTensorStruct {
  int type = -1, format = -1, n = 0, c = 0, h = 0, w = 0;
};
struct cudnnFilterStruct {
  int type = -1, format = -1, k = 0, c = 0, h = 0, w = 0;
};
struct cudnnConvolutionStruct {
  int pad_h = 0, pad_w = 0, stride_h = 0, stride_w = 0, dilation_h = 0, dilation_w = 0;
  int compute_type = -1, math = dnn_math_default;
  int refusal = dnn_success; ///< of every algorithm, once one was told to refuse
};
} // namespace troupe::cuda

namespace troupe::testing {
namespace {

using namespace cuda;

constexpr int dnn_bad_param = 2000, dnn_refuses = 3000;
constexpr int plain_algorithm = 1, large_algorithm = 0, inexact_algorithm = 2;
constexpr std::size_t small_workspace = 1000, winograd_workspace = 3000,
                      large_workspace = std::size_t{2} << 30;

int winograd_of(DnnResult result) {
  return result == DnnResult::y ? 6 : result == DnnResult::dx ? 4 : 5;
}
std::size_t workspace_of(DnnResult result, int algorithm) {
  return algorithm == large_algorithm       ? large_workspace
         : algorithm == winograd_of(result) ? winograd_workspace
                                            : small_workspace;
}

std::array<std::atomic<int>, 8> delays; // milliseconds, by algorithm

// ---- values

struct DnnSizes {
  cudnnTensorStruct x, y;
  cudnnFilterStruct filter;
  cudnnConvolutionStruct how;
};

template <class T>
double dnn_load(const void* tensor, std::int64_t at) {
  const T value = static_cast<const T*>(tensor)[at];
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

/// Places of elements: of pixels that lie together, or of planes.
struct Places {
  std::int64_t image, row, column, channel;

  Places(int format, std::int64_t channels, std::int64_t h, std::int64_t w)
      : image(channels * h * w), row(format == dnn_nhwc ? w * channels : w),
        column(format == dnn_nhwc ? channels : 1), channel(format == dnn_nhwc ? 1 : h * w) {}
  std::int64_t at(std::int64_t n, std::int64_t y, std::int64_t x) const {
    return n * image + y * row + x * column;
  }
};

/// Calls body(element of x, of filter, of y) for each product of a convolution.
template <class Body>
void for_each_product(const DnnSizes& s, const Body& body) {
  const auto& [x, y, filter, how] = s;
  const Places in_x(x.format, x.c, x.h, x.w), in_y(y.format, y.c, y.h, y.w),
      in_filter(filter.format, filter.c, filter.h, filter.w);
  for (int n = 0; n < y.n; ++n)
    for (int p = 0; p < y.h; ++p)
      for (int q = 0; q < y.w; ++q)
        for (int r = 0; r < filter.h; ++r)
          for (int t = 0; t < filter.w; ++t) {
            const int row = p * how.stride_h - how.pad_h + r * how.dilation_h;
            const int column = q * how.stride_w - how.pad_w + t * how.dilation_w;
            if (row < 0 || row >= x.h || column < 0 || column >= x.w)
              continue;
            for (int k = 0; k < y.c; ++k)
              for (int c = 0; c < x.c; ++c)
                body(in_x.at(n, row, column) + c * in_x.channel,
                     in_filter.at(k, r, t) + c * in_filter.channel,
                     in_y.at(n, p, q) + k * in_y.channel);
          }
}

std::int64_t dnn_elements(const cudnnTensorStruct& t) {
  return std::int64_t{t.n} * t.c * t.h * t.w;
}
std::int64_t dnn_elements(const cudnnFilterStruct& f) {
  return std::int64_t{f.k} * f.c * f.h * f.w;
}
std::int64_t elements_of(const DnnSizes& s, DnnResult result) {
  return result == DnnResult::y    ? dnn_elements(s.y)
         : result == DnnResult::dx ? dnn_elements(s.x)
                                   : dnn_elements(s.filter);
}

template <class T>
void dnn_convolve(const DnnSizes& s, DnnResult result, const void* a, const void* b, void* out) {
  std::vector<double> sums(static_cast<std::size_t>(elements_of(s, result)));
  double* sum = sums.data();
  switch (result) {
  case DnnResult::y:
    for_each_product(s, [&](std::int64_t x, std::int64_t filter, std::int64_t y) {
      sum[y] += dnn_load<T>(a, x) * dnn_load<T>(b, filter);
    });
    break;
  case DnnResult::dx:
    for_each_product(s, [&](std::int64_t x, std::int64_t filter, std::int64_t y) {
      sum[x] += dnn_load<T>(a, filter) * dnn_load<T>(b, y);
    });
    break;
  default:
    for_each_product(s, [&](std::int64_t x, std::int64_t filter, std::int64_t y) {
      sum[filter] += dnn_load<T>(a, x) * dnn_load<T>(b, y);
    });
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if constexpr (std::is_same_v<T, double>)
      static_cast<T*>(out)[i] = sums[i];
    else
      static_cast<T*>(out)[i] = T(static_cast<float>(sums[i]));
}

// ---- what all three check

std::size_t dnn_size_of(int type) {
  return type == dnn_f64 ? 8 : type == dnn_f32 ? 4 : 2;
}

int windows_of(int in, int pad, int filter, int dilation, int stride) {
  return (in + 2 * pad - ((filter - 1) * dilation + 1)) / stride + 1;
}

bool are_valid(const DnnSizes& s) {
  const auto& [x, y, filter, how] = s;
  return x.type == y.type && x.type == filter.type && x.format == y.format &&
         x.format == filter.format && how.compute_type == (x.type == dnn_f64 ? dnn_f64 : dnn_f32) &&
         (x.type != dnn_f32 || how.math == dnn_math_fma) && x.c == filter.c && y.c == filter.k &&
         x.n == y.n && y.h == windows_of(x.h, how.pad_h, filter.h, how.dilation_h, how.stride_h) &&
         y.w == windows_of(x.w, how.pad_w, filter.w, how.dilation_w, how.stride_w);
}

/// The answer of a call that was told to fail.
std::optional<int> told_to_fail(const std::string& function) {
  CudaDouble::Machine& m = machine();
  std::scoped_lock guard(m.lock);
  ++m.launches[function];
  return m.injected(function);
}

int find_algorithms(const char* function, const DnnSizes& s, DnnResult result, int most, int* count,
                    DnnAlgorithm* algorithms) {
  if (auto status = told_to_fail(function))
    return *status;
  if (!are_valid(s))
    return dnn_bad_param;
  const bool is_narrow = s.x.type == dnn_f16 || s.x.type == dnn_bf16;
  const std::array all{DnnAlgorithm{.algorithm = plain_algorithm, .status = dnn_refuses},
                       DnnAlgorithm{.algorithm = winograd_of(result),
                                    .memory = winograd_workspace,
                                    .determinism = dnn_deterministic,
                                    .math = dnn_math_fma},
                       DnnAlgorithm{.algorithm = is_narrow ? plain_algorithm : inexact_algorithm,
                                    .memory = small_workspace,
                                    .determinism = dnn_deterministic,
                                    .math = dnn_math_tensor_op},
                       DnnAlgorithm{.algorithm = large_algorithm,
                                    .determinism = dnn_deterministic,
                                    .math = dnn_math_default}, // the size is its secret
                       DnnAlgorithm{.algorithm = plain_algorithm,
                                    .memory = small_workspace,
                                    .determinism = dnn_deterministic,
                                    .math = dnn_math_default}};
  *count = std::min(most, static_cast<int>(all.size()));
  std::copy_n(all.begin(), *count, algorithms);
  return dnn_success;
}

int measure_workspace(const char* function, const DnnSizes& s, DnnResult result, int algorithm,
                      std::size_t* bytes) {
  if (auto status = told_to_fail(function))
    return *status;
  if (!are_valid(s))
    return dnn_bad_param;
  *bytes = workspace_of(result, algorithm);
  return dnn_success;
}

struct Factors {
  const void* alpha;
  const void* beta;
  /// Whether the result is what is computed, nothing else.
  bool are_plain(int type) const {
    const auto read = [&](const void* factor) {
      return type == dnn_f64 ? *static_cast<const double*>(factor)
                             : static_cast<double>(*static_cast<const float*>(factor));
    };
    return read(alpha) == 1 && read(beta) == 0;
  }
};

/// Told to fail by its function's name it is refused from now on, whichever algorithm is asked for;
/// by that with ", algorithm 1", by this one once.
int refusal_of(const std::string& function, cudnnConvolutionStruct& how, int algorithm) {
  if (auto status = told_to_fail(function))
    how.refusal = *status;
  const auto status = told_to_fail(str_cat(function, ", algorithm ", algorithm));
  return status.value_or(how.refusal);
}

int enqueue_convolution(const char* function, DnnHandle handle, cudnnConvolutionStruct& how,
                        const DnnSizes& s, DnnResult result, const Factors& factors, const void* a,
                        const void* b, void* out, int algorithm, void* workspace,
                        std::size_t bytes) {
  if (int status = refusal_of(function, how, algorithm); status != dnn_success)
    return status;
  if (!are_valid(s) || !factors.are_plain(s.x.type) || algorithm == large_algorithm || !workspace ||
      bytes < workspace_of(result, algorithm))
    return dnn_bad_param;
  const int type = s.x.type;
  const auto size = [&](DnnResult tensor) {
    return static_cast<std::size_t>(elements_of(s, tensor)) * dnn_size_of(type);
  };
  CudaDouble::Machine& m = machine();
  std::scoped_lock guard(m.lock);
  auto& stream = *reinterpret_cast<DoubleStream*>(handle->stream);
  m.checker.next(stream.number, "a convolution");
  m.checker.reads(a, size(result == DnnResult::dx ? DnnResult::dfilter : DnnResult::dx));
  m.checker.reads(b, size(result == DnnResult::y ? DnnResult::dfilter : DnnResult::y));
  m.checker.writes(out, size(result));
  m.checker.writes(workspace, bytes);
  m.enqueue(stream, {.run = [=] {
              std::this_thread::sleep_for(
                  std::chrono::milliseconds(delays[static_cast<std::size_t>(algorithm)]));
              std::memset(workspace, 0xFB, bytes);
              switch (type) {
              case dnn_f64:
                dnn_convolve<double>(s, result, a, b, out);
                break;
              case dnn_f16:
                dnn_convolve<Half>(s, result, a, b, out);
                break;
              case dnn_bf16:
                dnn_convolve<BFloat16>(s, result, a, b, out);
                break;
              default:
                dnn_convolve<float>(s, result, a, b, out);
              }
              return success;
            }});
  return dnn_success;
}

// ---- functions of the library

const char* dnn_error_string(int status) {
  return status == dnn_bad_param ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_OF_THE_DOUBLE";
}

int dnn_create(DnnHandle* handle) {
  if (auto status = told_to_fail("cudnnCreate"))
    return *status;
  *handle = new cudnnContext;
  return dnn_success;
}
int dnn_destroy(DnnHandle handle) {
  delete handle;
  return dnn_success;
}
int dnn_set_stream(DnnHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return dnn_success;
}

template <class T>
int dnn_make(T** descriptor) {
  *descriptor = new T;
  return dnn_success;
}
template <class T>
int dnn_end(T* descriptor) {
  delete descriptor;
  return dnn_success;
}

int set_tensor(DnnTensorHandle tensor, int format, int type, int n, int c, int h, int w) {
  if ((format != dnn_nhwc && format != dnn_nchw) || std::min({n, c, h, w}) < 1)
    return dnn_bad_param;
  *tensor = {type, format, n, c, h, w};
  return dnn_success;
}
int set_filter(DnnFilterHandle filter, int type, int format, int k, int c, int h, int w) {
  if ((format != dnn_nhwc && format != dnn_nchw) || std::min({k, c, h, w}) < 1)
    return dnn_bad_param;
  *filter = {type, format, k, c, h, w};
  return dnn_success;
}
int set_convolution(DnnConvolutionHandle how, int pad_h, int pad_w, int stride_h, int stride_w,
                    int dilation_h, int dilation_w, int mode, int compute_type) {
  if (std::min(pad_h, pad_w) < 0 || std::min({stride_h, stride_w, dilation_h, dilation_w}) < 1 ||
      mode != dnn_cross_correlation)
    return dnn_bad_param;
  *how = {.pad_h = pad_h,
          .pad_w = pad_w,
          .stride_h = stride_h,
          .stride_w = stride_w,
          .dilation_h = dilation_h,
          .dilation_w = dilation_w,
          .compute_type = compute_type};
  return dnn_success;
}
int set_math(DnnConvolutionHandle how, int math) {
  how->math = math;
  return dnn_success;
}

int find_forward(DnnHandle, DnnTensorHandle x, DnnFilterHandle filter, DnnConvolutionHandle how,
                 DnnTensorHandle y, int most, int* count, DnnAlgorithm* algorithms) {
  return find_algorithms("cudnnGetConvolutionForwardAlgorithm_v7", {*x, *y, *filter, *how},
                         DnnResult::y, most, count, algorithms);
}
int find_data(DnnHandle, DnnFilterHandle filter, DnnTensorHandle dy, DnnConvolutionHandle how,
              DnnTensorHandle dx, int most, int* count, DnnAlgorithm* algorithms) {
  return find_algorithms("cudnnGetConvolutionBackwardDataAlgorithm_v7", {*dx, *dy, *filter, *how},
                         DnnResult::dx, most, count, algorithms);
}
int find_filter(DnnHandle, DnnTensorHandle x, DnnTensorHandle dy, DnnConvolutionHandle how,
                DnnFilterHandle dfilter, int most, int* count, DnnAlgorithm* algorithms) {
  return find_algorithms("cudnnGetConvolutionBackwardFilterAlgorithm_v7", {*x, *dy, *dfilter, *how},
                         DnnResult::dfilter, most, count, algorithms);
}

int measure_forward(DnnHandle, DnnTensorHandle x, DnnFilterHandle filter, DnnConvolutionHandle how,
                    DnnTensorHandle y, int algorithm, std::size_t* bytes) {
  return measure_workspace("cudnnGetConvolutionForwardWorkspaceSize", {*x, *y, *filter, *how},
                           DnnResult::y, algorithm, bytes);
}
int measure_data(DnnHandle, DnnFilterHandle filter, DnnTensorHandle dy, DnnConvolutionHandle how,
                 DnnTensorHandle dx, int algorithm, std::size_t* bytes) {
  return measure_workspace("cudnnGetConvolutionBackwardDataWorkspaceSize",
                           {*dx, *dy, *filter, *how}, DnnResult::dx, algorithm, bytes);
}
int measure_filter(DnnHandle, DnnTensorHandle x, DnnTensorHandle dy, DnnConvolutionHandle how,
                   DnnFilterHandle dfilter, int algorithm, std::size_t* bytes) {
  return measure_workspace("cudnnGetConvolutionBackwardFilterWorkspaceSize",
                           {*x, *dy, *dfilter, *how}, DnnResult::dfilter, algorithm, bytes);
}

int run_forward(DnnHandle handle, const void* alpha, DnnTensorHandle of_x, const void* x,
                DnnFilterHandle of_filter, const void* filter, DnnConvolutionHandle how,
                int algorithm, void* workspace, std::size_t bytes, const void* beta,
                DnnTensorHandle of_y, void* y) {
  return enqueue_convolution("cudnnConvolutionForward", handle, *how,
                             {*of_x, *of_y, *of_filter, *how}, DnnResult::y, {alpha, beta}, x,
                             filter, y, algorithm, workspace, bytes);
}
int run_data(DnnHandle handle, const void* alpha, DnnFilterHandle of_filter, const void* filter,
             DnnTensorHandle of_dy, const void* dy, DnnConvolutionHandle how, int algorithm,
             void* workspace, std::size_t bytes, const void* beta, DnnTensorHandle of_dx,
             void* dx) {
  return enqueue_convolution("cudnnConvolutionBackwardData", handle, *how,
                             {*of_dx, *of_dy, *of_filter, *how}, DnnResult::dx, {alpha, beta},
                             filter, dy, dx, algorithm, workspace, bytes);
}
int run_filter(DnnHandle handle, const void* alpha, DnnTensorHandle of_x, const void* x,
               DnnTensorHandle of_dy, const void* dy, DnnConvolutionHandle how, int algorithm,
               void* workspace, std::size_t bytes, const void* beta, DnnFilterHandle of_dfilter,
               void* dfilter) {
  return enqueue_convolution("cudnnConvolutionBackwardFilter", handle, *how,
                             {*of_x, *of_dy, *of_dfilter, *how}, DnnResult::dfilter, {alpha, beta},
                             x, dy, dfilter, algorithm, workspace, bytes);
}

} // namespace

void delay_algorithm(int algorithm, int milliseconds);
void delay_algorithm(int algorithm, int milliseconds) {
  delays[static_cast<std::size_t>(algorithm)] = milliseconds;
}

Result<const DnnLibrary*> dnn_of_double();
Result<const DnnLibrary*> dnn_of_double() {
  static const DnnLibrary library{
      .cudnnGetErrorString = dnn_error_string,
      .cudnnCreate = dnn_create,
      .cudnnDestroy = dnn_destroy,
      .cudnnSetStream = dnn_set_stream,
      .cudnnCreateTensorDescriptor = dnn_make<cudnnTensorStruct>,
      .cudnnDestroyTensorDescriptor = dnn_end<cudnnTensorStruct>,
      .cudnnSetTensor4dDescriptor = set_tensor,
      .cudnnCreateFilterDescriptor = dnn_make<cudnnFilterStruct>,
      .cudnnDestroyFilterDescriptor = dnn_end<cudnnFilterStruct>,
      .cudnnSetFilter4dDescriptor = set_filter,
      .cudnnCreateConvolutionDescriptor = dnn_make<cudnnConvolutionStruct>,
      .cudnnDestroyConvolutionDescriptor = dnn_end<cudnnConvolutionStruct>,
      .cudnnSetConvolution2dDescriptor = set_convolution,
      .cudnnSetConvolutionMathType = set_math,
      .cudnnGetConvolutionForwardAlgorithm_v7 = find_forward,
      .cudnnGetConvolutionBackwardDataAlgorithm_v7 = find_data,
      .cudnnGetConvolutionBackwardFilterAlgorithm_v7 = find_filter,
      .cudnnGetConvolutionForwardWorkspaceSize = measure_forward,
      .cudnnGetConvolutionBackwardDataWorkspaceSize = measure_data,
      .cudnnGetConvolutionBackwardFilterWorkspaceSize = measure_filter,
      .cudnnConvolutionForward = run_forward,
      .cudnnConvolutionBackwardData = run_data,
      .cudnnConvolutionBackwardFilter = run_filter};
  if (told_to_fail("libcudnn"))
    return failed_precondition("there is no cuDNN: the double was told so");
  return &library;
}

} // namespace troupe::testing
