#include "kernels/framework/scatter_nd.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/movement.hpp"

namespace troupe {
namespace {

using IndexTypes = Types<std::int32_t, std::int64_t, std::int16_t, std::uint16_t>;

/// Indices of `depth` numbers each; 0: as many as `many` says. Whether all are inside.
template <int depth, class I>
bool find_rows(const I* from, int many, const Shape& shape, std::int64_t count,
               std::int64_t* where) {
  const int numbers = depth > 0 ? depth : many;
  std::uint64_t extents[Shape::max_rank] = {};
  for (int k = 0; k < numbers; ++k)
    extents[k] = static_cast<std::uint64_t>(shape[k]);
  bool all_inside = true;
  for (std::int64_t i = 0; i < count; ++i, from += numbers) {
    std::uint64_t at = 0;
    bool inside = true;
    for (int k = 0; k < numbers; ++k) {
      const auto index = static_cast<std::uint64_t>(static_cast<std::int64_t>(from[k]));
      inside &= index < extents[k];
      at = at * extents[k] + index;
    }
    where[i] = inside ? static_cast<std::int64_t>(at) : -1;
    all_inside &= inside;
  }
  return all_inside;
}

} // namespace

std::int64_t find_nd_rows(const Tensor& indices, const Shape& shape, std::int64_t begin,
                          std::int64_t end, std::int64_t* where) {
  const auto depth = static_cast<int>(indices.shape()[indices.shape().rank() - 1]);
  bool all_inside = true;
  const Status read = dispatch(IndexTypes{}, indices.dtype(), [&]<class I>() -> Status {
    const I* from = indices.data<I>().data() + begin * depth;
    all_inside = depth == 1   ? find_rows<1>(from, depth, shape, end - begin, where)
                 : depth == 2 ? find_rows<2>(from, depth, shape, end - begin, where)
                              : find_rows<0>(from, depth, shape, end - begin, where);
    return {};
  });
  TROUPE_CHECK(read.ok(), "indices are integers");
  for (std::int64_t i = end; !all_inside && i-- > begin;)
    if (where[i - begin] < 0)
      return i;
  return -1;
}

std::int64_t gather_nd_rows(KernelContext& c, const Tensor& params, const Tensor& indices,
                            std::int64_t row, bool ignore, Tensor& out) {
  std::int64_t count = 1;
  for (int i = 0; i + 1 < indices.shape().rank(); ++i)
    count *= indices.shape()[i];
  const std::int64_t bytes = row * static_cast<std::int64_t>(dtype_size(params.dtype()));
  const std::vector<std::byte> zeros(static_cast<std::size_t>(ignore ? bytes : 0));
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  std::atomic<std::int64_t> bad = -1;
  c.parallel_for(
      count, 3 + 0.1 * static_cast<double>(row), [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t block = 256;
        std::int64_t where[block];
        for (std::int64_t at = begin; at < end; at += block) {
          const std::int64_t stop = std::min(at + block, end);
          const std::int64_t here = find_nd_rows(indices, params.shape(), at, stop, where);
          for (std::int64_t seen = bad; here > seen;)
            if (bad.compare_exchange_weak(seen, here))
              break;
          arith::take_elements(bytes, params.raw(), where, ignore ? zeros.data() : nullptr,
                               to + at * bytes, stop - at);
        }
      });
  return bad;
}

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
