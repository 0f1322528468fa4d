// cuDNN, opened at run time: convolutions on a GPU. Where there is none, or it refuses one, kernels
// do without.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"
#include "devices/cuda/driver.hpp"

namespace troupe::cuda {

class Gpu;
using DnnHandle = struct cudnnContext*;
using DnnTensorHandle = struct cudnnTensorStruct*;
using DnnFilterHandle = struct cudnnFilterStruct*;
using DnnConvolutionHandle = struct cudnnConvolutionStruct*;

/// What cuDNN says of one algorithm; alike for the three of a convolution.
struct DnnAlgorithm {
  int algorithm = 0;
  int status = 0;
  float time = 0;
  std::size_t memory = 0; ///< bytes of workspace
  int determinism = 0;
  int math = 0;
  int reserved[3] = {};
};

// Result, name, parameters; types and numbers are those of cudnn_graph.h, cudnn_ops.h and
// cudnn_cnn.h (cuDNN 8 and 9).
#define TROUPE_CUDNN_FUNCTIONS(X)                                                                  \
  X(const char*, cudnnGetErrorString, (int status))                                                \
  X(int, cudnnCreate, (DnnHandle * handle))                                                        \
  X(int, cudnnDestroy, (DnnHandle handle))                                                         \
  X(int, cudnnSetStream, (DnnHandle handle, StreamHandle stream))                                  \
  X(int, cudnnCreateTensorDescriptor, (DnnTensorHandle * tensor))                                  \
  X(int, cudnnDestroyTensorDescriptor, (DnnTensorHandle tensor))                                   \
  X(int, cudnnSetTensor4dDescriptor,                                                               \
    (DnnTensorHandle tensor, int format, int type, int n, int c, int h, int w))                    \
  X(int, cudnnCreateFilterDescriptor, (DnnFilterHandle * filter))                                  \
  X(int, cudnnDestroyFilterDescriptor, (DnnFilterHandle filter))                                   \
  X(int, cudnnSetFilter4dDescriptor,                                                               \
    (DnnFilterHandle filter, int type, int format, int k, int c, int h, int w))                    \
  X(int, cudnnCreateConvolutionDescriptor, (DnnConvolutionHandle * convolution))                   \
  X(int, cudnnDestroyConvolutionDescriptor, (DnnConvolutionHandle convolution))                    \
  X(int, cudnnSetConvolution2dDescriptor,                                                          \
    (DnnConvolutionHandle convolution, int pad_h, int pad_w, int stride_h, int stride_w,           \
     int dilation_h, int dilation_w, int mode, int compute_type))                                  \
  X(int, cudnnSetConvolutionMathType, (DnnConvolutionHandle convolution, int math))                \
  X(int, cudnnGetConvolutionForwardAlgorithm_v7,                                                   \
    (DnnHandle handle, DnnTensorHandle x, DnnFilterHandle filter,                                  \
     DnnConvolutionHandle convolution, DnnTensorHandle y, int most, int* count,                    \
     DnnAlgorithm* algorithms))                                                                    \
  X(int, cudnnGetConvolutionBackwardDataAlgorithm_v7,                                              \
    (DnnHandle handle, DnnFilterHandle filter, DnnTensorHandle dy,                                 \
     DnnConvolutionHandle convolution, DnnTensorHandle dx, int most, int* count,                   \
     DnnAlgorithm* algorithms))                                                                    \
  X(int, cudnnGetConvolutionBackwardFilterAlgorithm_v7,                                            \
    (DnnHandle handle, DnnTensorHandle x, DnnTensorHandle dy, DnnConvolutionHandle convolution,    \
     DnnFilterHandle dfilter, int most, int* count, DnnAlgorithm* algorithms))                     \
  X(int, cudnnGetConvolutionForwardWorkspaceSize,                                                  \
    (DnnHandle handle, DnnTensorHandle x, DnnFilterHandle filter,                                  \
     DnnConvolutionHandle convolution, DnnTensorHandle y, int algorithm, std::size_t* bytes))      \
  X(int, cudnnGetConvolutionBackwardDataWorkspaceSize,                                             \
    (DnnHandle handle, DnnFilterHandle filter, DnnTensorHandle dy,                                 \
     DnnConvolutionHandle convolution, DnnTensorHandle dx, int algorithm, std::size_t* bytes))     \
  X(int, cudnnGetConvolutionBackwardFilterWorkspaceSize,                                           \
    (DnnHandle handle, DnnTensorHandle x, DnnTensorHandle dy, DnnConvolutionHandle convolution,    \
     DnnFilterHandle dfilter, int algorithm, std::size_t* bytes))                                  \
  X(int, cudnnConvolutionForward,                                                                  \
    (DnnHandle handle, const void* alpha, DnnTensorHandle of_x, const void* x,                     \
     DnnFilterHandle of_filter, const void* filter, DnnConvolutionHandle convolution,              \
     int algorithm, void* workspace, std::size_t bytes, const void* beta, DnnTensorHandle of_y,    \
     void* y))                                                                                     \
  X(int, cudnnConvolutionBackwardData,                                                             \
    (DnnHandle handle, const void* alpha, DnnFilterHandle of_filter, const void* filter,           \
     DnnTensorHandle of_dy, const void* dy, DnnConvolutionHandle convolution, int algorithm,       \
     void* workspace, std::size_t bytes, const void* beta, DnnTensorHandle of_dx, void* dx))       \
  X(int, cudnnConvolutionBackwardFilter,                                                           \
    (DnnHandle handle, const void* alpha, DnnTensorHandle of_x, const void* x,                     \
     DnnTensorHandle of_dy, const void* dy, DnnConvolutionHandle convolution, int algorithm,       \
     void* workspace, std::size_t bytes, const void* beta, DnnFilterHandle of_dfilter,             \
     void* dfilter))

/// The functions, under their own names.
struct DnnLibrary {
#define TROUPE_CUDNN_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  TROUPE_CUDNN_FUNCTIONS(TROUPE_CUDNN_MEMBER)
#undef TROUPE_CUDNN_MEMBER

  /// Opens libcudnn.so.9 or .8 at the first call; it stays open. FAILED_PRECONDITION, with the
  /// remedy, where there is none.
  static Result<const DnnLibrary*> open();
};

inline constexpr int dnn_success = 0;
inline constexpr int dnn_nchw = 0, dnn_nhwc = 1, dnn_cross_correlation = 1;
inline constexpr int dnn_deterministic = 1;
inline constexpr int dnn_f32 = 0, dnn_f64 = 1, dnn_f16 = 2, dnn_bf16 = 9;
/// What products may be computed with; by default floats may lose digits on tensor cores.
inline constexpr int dnn_math_default = 0, dnn_math_tensor_op = 1, dnn_math_fma = 3;

/// Which of a convolution's three tensors is computed from the other two.
enum class DnnResult : std::uint8_t { y, dx, dfilter };

/// A convolution of dense tensors: x [batch, in_h, in_w, in_c], filter [out_c, filter_h, filter_w,
/// in_c], y [batch, out_h, out_w, out_c]; in planes x [batch, in_c, in_h, in_w], filter [out_c,
/// in_c, filter_h, filter_w], y [batch, out_c, out_h, out_w]. Padding is the same on opposite
/// sides.
struct DnnConvolution {
  DnnResult result = DnnResult::y;
  DType dtype =
      DType::float32; ///< float, double, half or bfloat16; half and bfloat16 are summed in float
  /// One algorithm whose results differ by no more than the order of sums, and not from run to run.
  bool has_plain_sums = false;
  bool in_planes = false; ///< cuDNN has more algorithms for these, but those of narrow floats
  std::int64_t batch = 0;
  std::int64_t in_h = 0, in_w = 0, in_c = 0;
  std::int64_t filter_h = 0, filter_w = 0;
  std::int64_t out_h = 0, out_w = 0, out_c = 0;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;

  auto operator<=>(const DnnConvolution&) const = default;
};

/// How cuDNN computes a convolution: by one of some algorithms, of which it does not know well
/// which is the quickest.
class DnnPlan {
public:
  ~DnnPlan();
  DnnPlan(const DnnPlan&) = delete;
  DnnPlan& operator=(const DnnPlan&) = delete;

  const DnnConvolution& convolution() const { return convolution_; }
  /// Bytes of device memory that a run takes beside its tensors: as much as every algorithm needs
  /// until one is chosen, then as much as that needs. Any thread.
  std::size_t workspace() const { return workspace_; }
  /// With fewer bytes no algorithm runs.
  std::size_t least_workspace() const { return least_workspace_; }

private:
  friend class Dnn;
  struct Candidate {
    int algorithm = 0;
    int math = 0;
    std::size_t workspace = 0;
    float milliseconds = 0; ///< as measured
  };
  struct Operands {
    const void* a;
    const void* b;
    void* out;
    void* workspace;
    std::size_t bytes; ///< of the workspace
  };

  DnnPlan(const DnnLibrary& library, const DnnConvolution& convolution)
      : library_(library), convolution_(convolution) {}
  int describe();
  int find(DnnHandle handle);
  int measure_workspace(DnnHandle handle, int algorithm, std::size_t& bytes) const;
  int run(DnnHandle handle, const Candidate& candidate, const Operands& operands) const;
  void note_workspaces();

  const DnnLibrary& library_;
  const DnnConvolution convolution_;
  DnnTensorHandle x_ = nullptr, y_ = nullptr;
  DnnFilterHandle filter_ = nullptr;
  DnnConvolutionHandle how_ = nullptr;
  std::vector<Candidate> candidates_; ///< the best first; changed under the lock of the Dnn
  bool is_chosen_ = false;            ///< the first is the one; changed under that lock too
  std::atomic<std::size_t> workspace_ = 0, least_workspace_ = 0;
};

/// Of one GPU. Any thread.
class Dnn {
public:
  static Result<std::unique_ptr<Dnn>> make(Gpu& gpu, const DnnLibrary& library);
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  /// Made at the first call for that convolution, and kept. Null: cuDNN does not compute it, which
  /// is kept as well. An error is the GPU's.
  Result<std::shared_ptr<DnnPlan>> plan(const DnnConvolution& convolution);

  /// Enqueues it on the GPU's compute stream: y of x and filter, dx of filter and dy, or dfilter of
  /// x and dy. `workspace` is device memory of `bytes` bytes, at least plan.least_workspace().
  /// False: no algorithm runs; once cuDNN has refused all, plan() says so. An error is the GPU's.
  ///
  /// The first run that has plan.workspace() bytes tries all algorithms and measures them, which
  /// blocks its thread until the stream has done what was enqueued and each algorithm twice: some
  /// milliseconds, once for a shape, as in TensorFlow. What cuDNN expects to be the quickest often
  /// takes twice as long as what is.
  Result<bool> run(DnnPlan& plan, const void* a, const void* b, void* out, void* workspace,
                   std::size_t bytes);

private:
  Dnn(Gpu& gpu, const DnnLibrary& library, DnnHandle handle)
      : gpu_(gpu), library_(library), handle_(handle) {}
  void keep(const DnnConvolution& convolution, std::shared_ptr<DnnPlan> plan);
  /// `status` is cuDNN's last answer.
  Status choose(DnnPlan& plan, const DnnPlan::Operands& operands, int& status);
  Status refused(const DnnConvolution& convolution, std::string_view what, int status);

  Gpu& gpu_;
  const DnnLibrary& library_;
  std::mutex lock_; ///< a handle is for one thread at a time
  DnnHandle handle_;
  std::map<DnnConvolution, std::shared_ptr<DnnPlan>> plans_;
};

} // namespace troupe::cuda
