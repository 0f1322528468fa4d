#include "graph/functions/body.hpp"

#include "core/base/strings.hpp"
#include "graph/functions/internal/bodies.hpp"

namespace troupe {

Result<FunctionGraph> function_graph(const FunctionRef& function,
                                     std::shared_ptr<const FunctionLibrary> library,
                                     const OpRegistry& registry, LowerOptions options) {
  Graph brings(registry);
  brings.functions = std::move(library);
  functions::Bodies bodies(brings, options.memory, options.max_bytes);
  TROUPE_ASSIGN(const FunctionBody* body, bodies.find(function, false));
  FunctionGraph out{body->graph.clone(), {}, {}, {}};
  Graph& graph = out.graph;
  options.body_of = &function;
  TROUPE_TRY(lower_functions(graph, options));
  for (NodeId id : body->args)
    out.args.push_back(graph.node(id)->output_types[0]);
  for (NodeId id : body->effects)
    out.effects.push_back(graph.node(id)->name);
  for (Endpoint e : body->results) {
    const DType type =
        remove_ref(graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)]);
    const auto index = static_cast<std::int64_t>(out.results.size());
    TROUPE_TRY(graph
                   .add(graph.unique_name(str_cat("result_", index)), "_Retval", {e},
                        {{"T", type}, {"index", index}})
                   .status());
    out.results.push_back(type);
  }
  return out;
}

} // namespace troupe
