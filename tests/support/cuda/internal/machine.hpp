// What the double's functions share: GPUs, streams, events, the thread that runs what was enqueued.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/gpu/device_on_host.hpp"
#include "tests/support/cuda/cuda_double.hpp"
#include "tests/support/cuda/internal/order_checker.hpp"

namespace troupe::testing {

/// A point in a stream that others wait for.
struct Mark {
  bool is_reached = false;
  cuda::Outcome outcome = cuda::success;
  std::chrono::steady_clock::time_point time;
  Clock clock;
};

struct StreamWork {
  std::function<cuda::Outcome()> run = {}; ///< null: nothing but waiting
  std::shared_ptr<Mark> awaited = {};      ///< null: nothing
  std::shared_ptr<Mark> reached = {};
};

struct DoubleStream {
  int gpu = 0;
  std::size_t number = 0;
  std::deque<StreamWork> work = {};
};

struct CudaDouble::Machine {
  explicit Machine(const Options& options);
  ~Machine();

  /// An error that this call was told to give.
  std::optional<cuda::Outcome> injected(const std::string& function);
  /// What earlier work of the GPU failed with.
  cuda::Outcome failed(int gpu) const { return sticky[static_cast<std::size_t>(gpu)]; }
  void enqueue(DoubleStream& stream, StreamWork work);
  cuda::Outcome wait_for(const std::shared_ptr<Mark>& mark);
  void run();
  cuda::Outcome run_kernel(const gpu::HostKernel& kernel, int gpu, unsigned blocks, unsigned rows,
                           unsigned threads, std::vector<std::vector<unsigned char>>& arguments);

  const Options options;
  cuda::Driver driver;
  mutable std::mutex lock;
  std::condition_variable changed;
  OrderChecker checker;
  std::mt19937 random;
  std::set<std::unique_ptr<DoubleStream>> streams;
  std::vector<cuda::Outcome> sticky;         ///< by GPU
  std::vector<std::int64_t> in_use;          ///< bytes, by GPU
  std::set<void*> blocks;                    ///< of device memory, with their guards
  std::map<const char*, std::size_t> pinned; ///< bytes
  std::map<std::string, std::pair<int, cuda::Outcome>> failing_calls;
  std::map<std::string, cuda::Outcome> failing_kernels;
  std::map<std::string, int> launches;
  int waiting = 0;
  bool is_ending = false;
  std::thread thread; ///< runs what was enqueued while somebody waits
};

/// The one of this process. Aborts without one.
CudaDouble::Machine& machine();
/// The kernel of that name; null: none.
const gpu::HostKernel* find_host_kernel(const std::string& name);

} // namespace troupe::testing
