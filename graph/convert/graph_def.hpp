// Graphs as bytes of a tensorflow.GraphDef, in and out.
#pragma once

#include <string>
#include <string_view>

#include "graph/convert/limits.hpp"
#include "graph/ir/graph.hpp"

namespace troupe {

/// The GraphDef version that this program understands: of TensorFlow 2.21.
inline constexpr int graph_def_version = 2474;

struct ImportOptions {
  /// Nodes and ops whose name begins with '_' (sends, receives, arguments). Never from clients.
  bool allow_internal_ops = false;
  /// Attrs that our op does not know are dropped, as TensorFlow 2.21 does; otherwise they are an
  /// error.
  bool ignore_unknown_attrs = false;
  /// Runs every shape function, and fails where one does.
  bool check_shapes = false;
  DecodeLimits limits = {};
  /// Outputs that all nodes of one import may have together: a few bytes can ask for many.
  std::size_t max_outputs = 10'000'000;
  /// Nodes of one binary import, counted before any is read: an empty one is two bytes long and
  /// takes a hundred.
  std::size_t max_nodes = 2'000'000;
};

/// Reads a GraphDef, binary or text (which, is seen from its beginning). Checks versions, names,
/// ops, attrs (defaults are filled in), inputs, dtypes and cycles; the function library is kept as
/// it is. INVALID_ARGUMENT, NOT_FOUND (unknown op) and RESOURCE_EXHAUSTED in TensorFlow's words;
/// for text the message names line and column. Ids follow the order of the nodes.
Result<Graph> read_graph_bytes(std::string_view bytes, const OpRegistry& registry,
                               const ImportOptions& options = {});

/// Adds a GraphDef's nodes and functions to a graph; they may use the nodes that are there.
/// Versions must not contradict the graph's. On an error the graph is as before.
Status extend_graph_bytes(Graph& graph, std::string_view bytes, const ImportOptions& options = {});

struct ExportOptions {
  bool assigned_devices = false; ///< NodeDef.device is the assigned device, where there is one
  bool strip_defaults = false;   ///< attrs that have their default are left out
  NodeId first = 0;              ///< nodes with smaller ids are left out
};

/// Binary; equal graphs give equal bytes. Nodes in order of id. RESOURCE_EXHAUSTED naming the bytes
/// for a graph beyond 2 GiB, which protobuf cannot write.
Result<std::string> write_graph_bytes(const Graph& graph, const ExportOptions& options = {});
/// The same for a graph that is known to be smaller; aborts if it is not.
std::string export_graph(const Graph& graph, const ExportOptions& options = {});
/// Text, for people and golden files.
std::string export_graph_text(const Graph& graph, const ExportOptions& options = {});

/// All ops as bytes of a tensorflow.OpList, by name.
std::string export_ops(const OpRegistry& registry);

} // namespace troupe
