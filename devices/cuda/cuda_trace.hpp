// CudaTrace: times a stream's work by events around it.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cuda/driver.hpp"
#include "devices/device.hpp"

namespace troupe::cuda {

class CudaStream;

/// Any thread. What two traces of one stream are told is the same.
class CudaTrace final : public StreamTrace {
public:
  explicit CudaTrace(CudaStream& stream) : stream_(stream) {}
  ~CudaTrace() override;

  std::vector<StreamSpan> take() override;

  /// A node's work begins; its place, for `end`. Not to be asked while `take` is.
  std::size_t begin(std::string_view node, std::string_view op);
  void end(std::size_t place);

private:
  struct Timed {
    std::string node, op;
    EventHandle begin = nullptr, end = nullptr; ///< null: could not be recorded
  };
  EventHandle record();

  CudaStream& stream_;
  std::mutex lock_;
  std::vector<Timed> work_;
};

} // namespace troupe::cuda
