#include "kernels/state/internal/rows.hpp"

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/position.hpp"

namespace troupe::state {

Status check_rows(const Tensor& indices, std::int64_t limit) {
  TROUPE_ASSIGN(const auto type, arith::index_type(indices.dtype()));
  const std::int64_t bad =
      arith::find_bad_index(type, indices.raw(), 0, indices.num_elements(), limit);
  if (bad < 0)
    return {};
  const Tensor one = indices.reshaped(Shape{indices.num_elements()}).rows(bad, bad + 1);
  TROUPE_ASSIGN(const auto value, integers(one));
  return invalid_argument(str_cat("indices", position_text(indices.shape(), bad), " = ", value[0],
                                  " is not in [0, ", limit, ")"));
}

} // namespace troupe::state
