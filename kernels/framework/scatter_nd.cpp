#include "kernels/framework/scatter_nd.hpp"

#include "core/base/strings.hpp"

namespace troupe {

Status check_scatter_nd(const Shape& params, const Shape& indices, const Shape& updates) {
  if (params.rank() < 1)
    return invalid_argument(str_cat("Output must be at least 1-D, got shape: ", params));
  const bool is_nothing = indices.num_elements() == 0 && updates.num_elements() == 0;
  if (!is_nothing &&
      (params.num_elements() == 0 || indices.num_elements() == 0 || updates.num_elements() == 0))
    return invalid_argument(
        str_cat("Indices and updates specified for empty output.  indices shape: ", indices));
  if (indices.rank() < 1)
    return invalid_argument(str_cat("Indices shape must have rank at least one. Found:", indices));
  if (updates.rank() < 1)
    return invalid_argument(str_cat("Updates shape must have rank at least one. Found:", updates));
  if (updates[0] != indices[0])
    return invalid_argument(
        str_cat("Dimensions [0,1) of indices[shape=", indices, "] = ", indices[0],
                " must match dimensions [0,1) of updates[shape=", updates, "] = ", updates[0]));
  const int batch = indices.rank() > 1 ? indices.rank() - 1 : 1;
  const std::int64_t depth = indices.rank() > 1 ? indices[indices.rank() - 1] : 1;
  const auto of_indices = [&] {
    return invalid_argument(str_cat("Dimensions [0,", batch, ") of indices[shape=", indices,
                                    "] must match dimensions [0,", batch,
                                    ") of updates[shape=", updates, "]"));
  };
  const auto of_input = [&] {
    return invalid_argument(str_cat("Dimensions [", depth, ",", params.rank(),
                                    ") of input[shape=", params, "] must match dimensions [", depth,
                                    ",", updates.rank(), ") of updates[shape=", updates, "]"));
  };
  if (updates.rank() < batch)
    return of_indices();
  if (updates.rank() != batch + params.rank() - depth)
    return of_input();
  for (int i = 0; i < batch; ++i)
    if (updates[i] != indices[i])
      return of_indices();
  for (int i = batch; i < updates.rank(); ++i)
    if (updates[i] != params[static_cast<int>(depth) + i - batch])
      return of_input();
  constexpr int most = 7;
  if (params.num_elements() > 0 && (depth < 1 || depth > most))
    return invalid_argument(str_cat("Only indices.shape[-1] values between 1 and 5 are currently "
                                    "supported.  Requested rank: ",
                                    depth));
  return {};
}

Result<bool> ignores_bad_indices(const std::string& policy) {
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR")
    return false;
  if (policy == "IGNORE")
    return true;
  return invalid_argument(str_cat("Unknown bad indices handling attribute: ", policy));
}

} // namespace troupe
