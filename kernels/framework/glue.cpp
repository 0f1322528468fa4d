// Reading the small integer tensors that say how an op works.
#include "kernels/framework/glue.hpp"

namespace troupe {

Result<Integers> integers(const Tensor& tensor) {
  Integers out(static_cast<std::size_t>(tensor.num_elements()));
  TROUPE_TRY(dispatch(Types<std::int32_t, std::int64_t, std::int16_t, std::int8_t>{},
                      tensor.dtype(), [&]<class T>() -> Status {
                        std::ranges::copy(tensor.data<T>(), out.begin());
                        return {};
                      }));
  return out;
}

Result<Shape> shape_from(const Tensor& sizes) {
  TROUPE_ASSIGN(const auto dims, integers(sizes));
  for (std::int64_t dim : dims)
    if (dim < 0)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= 0"));
  return Shape::make(dims);
}

} // namespace troupe
