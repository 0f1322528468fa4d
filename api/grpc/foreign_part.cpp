#include "api/grpc/foreign_part.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/rendezvous.hpp"
#include "proto/graph.pb.h"

namespace troupe {

namespace {

using tensorflow::NodeDef;

/// Ops of ours that a TensorFlow task does not have.
constexpr std::string_view own_ops[] = {"_ForRange", "_FusedConv2D", "_FusedElementwise",
                                        "_FusedMatMul", "_Refusal"};

// The client's end of a value that is fed or fetched as `number`; its rendezvous key.
std::string make_client_end(NodeDef& node, std::string_view what, std::size_t number,
                            std::uint64_t incarnation) {
  const bool is_fed = what == "feed";
  const std::string name = str_cat(what, "_", number), device = node.device();
  auto& attrs = *node.mutable_attr();
  const tensorflow::AttrValue type = attrs["T"];
  attrs.clear();
  attrs[is_fed ? "tensor_type" : "T"] = type;
  attrs["tensor_name"].set_s(name);
  attrs["send_device"].set_s(device);
  attrs["recv_device"].set_s(device);
  attrs["send_device_incarnation"].set_i(static_cast<std::int64_t>(incarnation));
  attrs["client_terminated"].set_b(true);
  node.set_op(is_fed ? "_Recv" : "_Send");
  return rendezvous_key(device, incarnation, device, name, 0, 0);
}

void put(std::vector<std::string>& keys, std::size_t index, std::string key) {
  keys.resize(std::max(keys.size(), index + 1));
  keys[index] = std::move(key);
}

} // namespace

Result<ForeignPart>
foreign_part(std::string_view graph_def,
             const std::function<std::uint64_t(std::string_view device)>& incarnation) {
  constexpr std::int64_t most_ends = 1'000'000; // an index makes room for all before it
  tensorflow::GraphDef graph;
  if (graph_def.size() > static_cast<std::size_t>(INT32_MAX) ||
      !graph.ParseFromArray(graph_def.data(), static_cast<int>(graph_def.size())))
    return invalid_argument("a part of the step's graph is no GraphDef");
  ForeignPart out;
  for (NodeDef& node : *graph.mutable_node()) {
    const bool is_fed = node.op() == "_Arg";
    if (is_fed || node.op() == "_Retval") {
      auto index = node.attr().find("index");
      if (index == node.attr().end() || index->second.i() < 0 || index->second.i() > most_ends)
        return invalid_argument(str_cat("node '", node.name(), "' (", node.op(), ") has no index"));
      const auto number = static_cast<std::size_t>(index->second.i());
      std::string key =
          make_client_end(node, is_fed ? "feed" : "fetch", number, incarnation(node.device()));
      put(is_fed ? out.feed_keys : out.fetch_keys, number, std::move(key));
    } else if (node.op() == "_Results") {
      node.set_op("IdentityN");
      node.mutable_attr()->erase("direct");
    } else if (std::ranges::find(own_ops, node.op()) != std::end(own_ops)) {
      return unimplemented(str_cat(
          "node '", node.name(), "' (", node.op(), ") on ", node.device(),
          ", a task that is TensorFlow's and does not have that op; place it on a task of troupe"));
    }
  }
  out.graph_def = graph.SerializeAsString();
  return out;
}

} // namespace troupe
