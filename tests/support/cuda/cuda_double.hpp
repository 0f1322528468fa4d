// CudaDouble: a second NVIDIA driver, for tests: GPUs of the host's own memory and time.
//
// - A stream runs nothing before somebody waits for an event. Then the streams' work runs on one
//   thread, in an order that the seed picks among what events allow. So code that forgets to wait
//   sees what is not there yet.
// - Memory has guards on both sides, is filled with garbage when it is given, and freed in its
//   stream's order.
// - Every kernel and copy is checked when it is enqueued: each memory that it reads must have been
//   written, and each that it writes been read, by work that comes before it: in its stream, by an
//   event, or because the host has waited. What is not so, and any use of memory that was given
//   back, is a problem, which names both.
// - Kernels are those of the .cu files, compiled for the host.
// - Any call, and any kernel, can be told to fail.
//
// One at a time in a process: the driver's functions know it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/cuda/gpu.hpp"

namespace troupe::testing {

class CudaDouble {
public:
  struct Options {
    int gpus = 1;
    std::int64_t memory = 256 << 20; ///< bytes of each
    unsigned seed = 1;
  };
  CudaDouble() : CudaDouble(Options{}) {}
  explicit CudaDouble(const Options& options);
  /// After every stream has ended.
  ~CudaDouble();
  CudaDouble(const CudaDouble&) = delete;
  CudaDouble& operator=(const CudaDouble&) = delete;

  /// The driver, and a cuBLAS and a cuDNN that compute on the host.
  cuda::Libraries libraries() const;

  /// The next call of `function` ("cuMemAllocAsync") fails; `after`: so many calls later.
  /// "libcudnn" is looking for cuDNN.
  void fail_call(const std::string& function, cuda::Outcome outcome, int after = 0);
  /// The next run of the kernel ends with this error, which whoever waits next is told, and
  /// everybody from then on.
  void fail_kernel(const std::string& name, cuda::Outcome outcome);

  /// What was wrong so far, a sentence each.
  std::vector<std::string> problems() const;
  /// Bytes of device memory that are given and not given back.
  std::int64_t bytes_in_use() const;
  /// How often a kernel of that name was enqueued, or cuDNN's function was called.
  int launches(const std::string& name) const;

  /// One of its GPUs, made at the first call and kept; what device types for tests hand out.
  std::shared_ptr<cuda::Gpu> gpu(int ordinal);
  /// Once nobody uses the GPUs any more: waits for their work, and until nothing is left of those
  /// who waited for it. A step's last traces go on a thread of the GPU's.
  void settle();
  /// The one that lives; null: none.
  static CudaDouble* current();

  struct Machine;

private:
  std::unique_ptr<Machine> machine_;
  std::vector<std::shared_ptr<cuda::Gpu>> gpus_; ///< end before the machine
};

} // namespace troupe::testing
