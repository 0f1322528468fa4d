// The files that a debugger reads: what TensorFlow's tfdbg finds below a dump folder. Each file is
// one Event message.
//
//   ROOT/_tfdbg_core_metadata_sessionrunN_TIME                     what was run
//   ROOT/_tfdbg_device_,job_J,replica_R,task_T,device_CPU_0/
//        _tfdbg_graph_hashH_TIME                                   the device's graph
//        SCOPE/NODE_SLOT_OP_TIME                                   a value
//
// tensorflow/core/debug/debug_io_utils.cc, tensorflow/python/debug/lib/debug_data.py
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

class AllowedFiles;

/// Where a debug URL leads: "/tmp/dump" of "file:///tmp/dump". UNIMPLEMENTED for another scheme.
Result<std::string> dump_folder_of(std::string_view url);

/// A value that a debug op gave.
struct DumpedTensor {
  std::string device; ///< full name
  std::string node;
  int slot = 0;
  std::string op; ///< "DebugIdentity"
};
/// A tensor without a value is one that was not initialised; `dtype` is what it would have.
Status dump_tensor(AllowedFiles& files, const std::string& root, const DumpedTensor& what,
                   const Tensor& value, DType dtype, std::int64_t now_us);

/// `graph_def`: serialised.
Status dump_graph(AllowedFiles& files, const std::string& root, const std::string& device,
                  std::string_view graph_def, std::int64_t now_us);

/// What was run.
struct DumpedRun {
  std::int64_t global_step = 0;
  std::int64_t of_session = 0;   ///< of all runs of its session, from 1
  std::int64_t of_signature = 0; ///< of those with its feeds, fetches and watches, from 0
  std::vector<std::string> feeds, fetches, targets;
};
Status dump_run(AllowedFiles& files, const std::string& root, const DumpedRun& run,
                std::int64_t now_us);

} // namespace troupe
