// CostNode: what a node of a step has cost, and what it reads. Mirrors TensorFlow's CostGraphDef;
// graph/convert turns it into that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/dtype.hpp"

namespace troupe {

/// Nodes of one task, in the order of their ids, which count from 0.
struct CostNode {
  struct Input {
    std::int32_t node = 0; ///< its id
    std::int32_t slot = 0;
    friend bool operator==(const Input&, const Input&) = default;
  };
  struct Output {
    std::int64_t bytes = -1; ///< -1: it was not measured
    DType dtype = DType::invalid;
    std::vector<std::int64_t> dims;
    friend bool operator==(const Output&, const Output&) = default;
  };
  std::string name;
  std::string device; ///< full name
  std::vector<Input> inputs;
  std::vector<std::int32_t> control_inputs; ///< ids
  std::vector<Output> outputs;
  std::int64_t compute_us = 0; ///< of all its runs in the step
  bool is_final = false;       ///< a fetch, or what nothing reads
  friend bool operator==(const CostNode&, const CostNode&) = default;
};

} // namespace troupe
