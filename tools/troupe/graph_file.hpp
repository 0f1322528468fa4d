// Graphs as people keep them: GraphDefs (binary or text), the text form, SavedModel folders,
// MetaGraphs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// One entry of a model: named inputs and outputs, each with its tensor's name.
struct ModelSignature {
  std::string name;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
  /// "serving_default(x = x:0) -> y = y:0"
  std::string to_string() const;
};

struct GraphFile {
  std::string bytes;                ///< a GraphDef, binary or text
  std::string kind;                 ///< "GraphDef", "SavedModel, tags serve"
  bool has_saved_variables = false; ///< a SavedModel whose variables would have to be restored
  std::int64_t nodes = 0;
  int producer = 0;                        ///< GraphDef version of who wrote it
  std::map<std::string, std::int64_t> ops; ///< how many nodes of each op
  std::vector<std::string> functions;
  std::vector<ModelSignature> signatures;
};

/// `path` is a file, a pipe (read to its end) or a SavedModel folder. NOT_FOUND or
/// PERMISSION_DENIED; INVALID_ARGUMENT naming the path for what is no graph; RESOURCE_EXHAUSTED for
/// 2 GiB and more.
Result<GraphFile> read_graph_file(const std::string& path);

} // namespace troupe
