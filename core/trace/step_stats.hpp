// StepStats: what a traced step recorded, node by node, device by device. Mirrors TensorFlow's
// StepStats; graph/convert turns it into that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/dtype.hpp"

namespace troupe {

/// A value that a kernel gave.
struct OutputStats {
  std::int32_t slot = 0;
  DType dtype = DType::invalid;
  std::vector<std::int64_t> dims;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0; ///< bytes of the buffer that holds it
  std::uint64_t address = 0;  ///< of its elements, in the task's memory or the device's
  bool is_alone = false;      ///< nobody else held the buffer: it is the step's own
};

/// One run of one kernel. Times in microseconds since 1970.
struct NodeStats {
  std::string node;
  std::string op;
  std::int64_t start_us = 0; ///< the kernel began (a receive: was asked for)
  std::int64_t end_us = 0;
  std::uint32_t thread_id = 0;
  std::int64_t bytes = 0; ///< of its outputs
  std::string detail;     ///< for people: shapes, or the path and rate of a transfer
  std::vector<OutputStats> outputs = {};
  std::vector<std::string> inputs = {}; ///< as in a NodeDef: "node", "node:1", "^node"
};

struct DeviceStats {
  std::string device; ///< full name
  std::vector<NodeStats> nodes;
};

struct StepStats {
  std::vector<DeviceStats> devices;
};

} // namespace troupe
