#include "kernels/array/internal/nd_index.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/scatter_nd.hpp"

namespace troupe::array {
namespace {

using IndexTypes = Types<std::int32_t, std::int64_t, std::int16_t, std::uint16_t>;

} // namespace

Result<NdIndex> read_nd_index(const Tensor& indices, const Shape& shape) {
  NdIndex out;
  const int last = indices.shape().rank() - 1;
  out.depth = indices.shape()[last];
  for (int i = static_cast<int>(out.depth); i < shape.rank(); ++i)
    out.row *= shape[i];
  std::int64_t count = 1;
  for (int i = 0; i < last; ++i)
    count *= indices.shape()[i];
  if (out.depth == 0 && out.row == 0) // nothing names nothing: there may be any number of them
    return out;
  out.where.resize(static_cast<std::size_t>(count));
  TROUPE_TRY(dispatch(IndexTypes{}, indices.dtype(), []<class I>() { return Status(); }));
  out.bad = find_nd_rows(indices, shape, 0, count, out.where.data());
  return out;
}

std::string nd_index_text(const Tensor& indices, std::int64_t at) {
  const Shape& shape = indices.shape();
  const int last = shape.rank() - 1;
  std::vector<std::int64_t> place(static_cast<std::size_t>(last)), values;
  std::int64_t rest = at;
  for (int i = last - 1; i >= 0; --i) {
    place[static_cast<std::size_t>(i)] = rest % shape[i];
    rest /= shape[i];
  }
  const Status read = dispatch(IndexTypes{}, indices.dtype(), [&]<class I>() -> Status {
    for (std::int64_t k = 0; k < shape[last]; ++k)
      values.push_back(indices.data<I>()[static_cast<std::size_t>(at * shape[last] + k)]);
    return {};
  });
  return str_cat("indices", place.empty() ? "" : str_cat("[", str_join(place, ","), "]"), " = [",
                 read.ok() ? str_join(values, ", ") : "", "]");
}

} // namespace troupe::array
