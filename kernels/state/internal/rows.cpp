#include "kernels/state/internal/rows.hpp"

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe::state {

Status check_rows(const Tensor& indices, std::int64_t limit) {
  TROUPE_ASSIGN(const auto type, arith::index_type(indices.dtype()));
  const std::int64_t bad =
      arith::find_bad_index(type, indices.raw(), 0, indices.num_elements(), limit);
  if (bad < 0)
    return {};
  const Tensor one = indices.reshaped(Shape{indices.num_elements()}).rows(bad, bad + 1);
  TROUPE_ASSIGN(const auto value, integers(one));
  std::vector<std::int64_t> position(static_cast<std::size_t>(indices.shape().rank()));
  std::int64_t rest = bad;
  for (std::size_t k = position.size(); k-- > 0;) {
    position[k] = rest % indices.shape()[static_cast<int>(k)];
    rest /= indices.shape()[static_cast<int>(k)];
  }
  return invalid_argument(
      str_cat("indices", position.empty() ? "" : str_cat("[", str_join(position, ","), "]"), " = ",
              value[0], " is not in [0, ", limit, ")"));
}

} // namespace troupe::state
