// Gpu: one GPU as this process uses it: its context, three streams, its memory, the code that was
// loaded onto it. Devices of several nodes of one process share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "devices/cuda/blas.hpp"
#include "devices/cuda/code_image.hpp"
#include "devices/cuda/cuda_stream.hpp"
#include "devices/cuda/dnn.hpp"
#include "devices/cuda/driver.hpp"
#include "devices/cuda/gpu_memory.hpp"

namespace troupe::cuda {

/// What a board says of itself.
struct GpuDescription {
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  std::int64_t memory = 0; ///< bytes
};

struct GpuSettings {
  double memory_fraction = 0;    ///< of the board's memory, at most; 0: nine tenths
  std::int64_t pinned_limit = 0; ///< bytes of the host's memory; 0: half of it
};

/// NVIDIA's libraries, or what stands for them in tests.
struct Libraries {
  const Driver* driver = nullptr;
  Result<const BlasLibrary*> (*blas)() =
      nullptr; ///< asked when the first product is to be computed
  Result<const DnnLibrary*> (*dnn)() =
      nullptr; ///< asked when the first convolution is to be computed; null: there is none

  /// Those of this machine. FAILED_PRECONDITION without a driver.
  static Result<Libraries> open();
};

/// Safe for any thread. Every call makes the context current on the thread that it is made on.
class Gpu {
public:
  /// FAILED_PRECONDITION if the driver does not know `ordinal`, or the board is older than compute
  /// capability 7.0 or has no memory pools. The libraries outlive it.
  static Result<std::shared_ptr<Gpu>> open(const Libraries& libraries, Ordinal ordinal,
                                           const GpuSettings& settings = {});
  /// Waits for all work. Every tensor of its memory is gone by then.
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return *libraries_.driver; }
  Ordinal ordinal() const { return ordinal_; }
  const GpuDescription& description() const { return description_; }
  /// Makes its context current on this thread.
  Status activate() const;

  /// Waits for all work and all `when_done` callbacks; whatever they held is then released. The
  /// last call to this object.
  void end_waiting();

  /// Where kernels run, and the order in which memory is taken and given back.
  CudaStream& compute() { return *compute_; }
  CudaStream& copies_in() { return *copies_in_; }
  CudaStream& copies_out() { return *copies_out_; }
  GpuMemory& memory() { return *memory_; }
  PinnedMemory& pinned() { return *pinned_; }

  /// A kernel of an image, which is loaded at its first use. UNIMPLEMENTED if the image is empty or
  /// has no code for this GPU.
  Result<Function> function(const CodeImage& image, std::string_view name);

  /// FAILED_PRECONDITION where there is no cuBLAS.
  Result<Blas*> blas();
  /// FAILED_PRECONDITION where there is no cuDNN, INTERNAL where it does not start; either is found
  /// out, and logged, once.
  Result<Dnn*> dnn();

  /// From the first error of asynchronous work on, which leaves a context of no use: that error.
  /// Everything enqueued later is refused with it.
  Status lost() const;
  /// Whether an error that a call was told leaves the GPU of no use; if so, it is lost from now on.
  bool is_lost_by(const Status& error, Outcome outcome);

private:
  Gpu(const Libraries& libraries, Ordinal ordinal) : libraries_(libraries), ordinal_(ordinal) {}
  Status start(const GpuSettings& settings);

  Libraries libraries_;
  Ordinal ordinal_;
  GpuDescription description_;
  Context context_ = nullptr;
  std::unique_ptr<GpuMemory> memory_;
  std::unique_ptr<PinnedMemory> pinned_;
  std::unique_ptr<CudaStream> compute_, copies_in_, copies_out_;

  std::mutex modules_lock_;
  std::map<const void*, Module> modules_; // by image
  std::map<std::pair<const void*, std::string>, Function> functions_;

  std::mutex blas_lock_;
  std::unique_ptr<Blas> blas_;
  std::mutex dnn_lock_;
  std::optional<Result<std::unique_ptr<Dnn>>> dnn_; ///< nothing: not asked yet

  std::atomic<bool> is_lost_ = false;
  mutable std::mutex lost_lock_;
  Status lost_;
};

} // namespace troupe::cuda
