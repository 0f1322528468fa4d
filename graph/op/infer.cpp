#include "graph/op/infer.hpp"

#include "core/base/strings.hpp"

namespace troupe {

Result<std::vector<PartialShape>> infer_shapes(const OpSchema& schema, const AttrMap& attrs,
                                               std::vector<PartialShape> inputs,
                                               std::vector<Tensor> input_values) {
  TROUPE_ASSIGN(NodeTypes types, resolve_types(schema, attrs));
  if (types.inputs.size() != inputs.size())
    return invalid_argument(str_cat("op ", schema.name, " takes ", types.inputs.size(),
                                    " inputs with these attrs, not ", inputs.size()));
  ShapeContext c(schema, attrs, std::move(inputs), std::move(input_values),
                 static_cast<int>(types.outputs.size()));
  if (schema.shape_fn)
    TROUPE_TRY(schema.shape_fn(c));
  return c.outputs();
}

} // namespace troupe
