// DataFormatDimMap and DataFormatVecPermute: from one order of an image's dimensions to another.
#include <algorithm>

#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn_data_format {
namespace {

struct Formats {
  std::string from, to;
};

Status check_length(std::string_view which, std::string_view name, const std::string& format) {
  if (format.size() != 4 && format.size() != 5)
    return invalid_argument(
        str_cat(which, " format must be of length 4 or 5, received ", name, " = ", format));
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Formats f;
  TROUPE_ASSIGN(f.from, c.attr<std::string>("src_format"));
  TROUPE_ASSIGN(f.to, c.attr<std::string>("dst_format"));
  TROUPE_TRY(check_length("Source", "src_format", f.from));
  TROUPE_TRY(check_length("Destination", "dst_format", f.to));
  std::string a = f.from, b = f.to;
  std::ranges::sort(a);
  std::ranges::sort(b);
  if (a != b || std::ranges::adjacent_find(a) != a.end())
    return invalid_argument(str_cat(
        "Destination and source format must determine a permutation, got ", f.from, " and ", f.to));
  return prepared(std::move(f));
}

/// Dimension i of the one is dimension map(i) of the other; negative ones count from the end.
Status compute_map(KernelContext& c) {
  const auto& f = c.prepared<Formats>();
  const Tensor& x = c.input(0);
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  return dispatch(Indices{}, x.dtype(), [&]<class T>() -> Status {
    const auto n = static_cast<T>(f.from.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.num_elements()); ++i) {
      const T at = ((x.data<T>()[i] % n) + n) % n;
      y.mutable_data<T>()[i] = static_cast<T>(f.to.find(f.from[static_cast<std::size_t>(at)]));
    }
    return {};
  });
}

/// Without the dimensions that are not spatial, if `count` leaves room for the spatial ones alone.
std::string kept(const std::string& format, std::int64_t count) {
  if (count == static_cast<std::int64_t>(format.size()))
    return format;
  std::string out = format;
  std::erase_if(out, [](char d) { return d == 'N' || d == 'C'; });
  return out;
}

Status check_vector(const Shape& shape, std::int64_t full) {
  if (shape.rank() != 1 && shape.rank() != 2)
    return invalid_argument(str_cat("input must be a vector or 2D tensor, but got shape ", shape));
  if (shape[0] != full && shape[0] != full - 2)
    return invalid_argument(str_cat(shape.rank() == 1 ? "1D input" : "First dimension of 2D input",
                                    " must be of size ", full - 2, " or ", full, ", but got shape ",
                                    shape));
  if (shape.rank() == 2 && shape[1] != 2)
    return invalid_argument(
        str_cat("Second dimension of 2D input must be of size 2, but got shape ", shape));
  return {};
}

Status compute_permute(KernelContext& c) {
  const auto& f = c.prepared<Formats>();
  const Tensor& x = c.input(0);
  TROUPE_TRY(check_vector(x.shape(), static_cast<std::int64_t>(f.from.size())));
  const std::int64_t count = x.shape()[0];
  const std::string from = kept(f.from, count), to = kept(f.to, count);
  if (static_cast<std::int64_t>(from.size()) != count)
    return invalid_argument(count == 2 ? "Format specifier must contain H and W for 2D case"
                                       : "Format specifier must contain D, H and W for 3D case");
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  const std::size_t width = x.shape().rank() == 2 ? 2 : 1;
  return dispatch(Indices{}, x.dtype(), [&]<class T>() -> Status {
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t k = 0; k < width; ++k)
        y.mutable_data<T>()[i * width + k] = x.data<T>()[from.find(to[i]) * width + k];
    return {};
  });
}

Status infer_permute(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() != 1 && c.input(0).rank() != 2)
    return invalid_argument(
        str_cat("input must be a vector or 2D tensor, but got shape ", c.input(0)));
  return c.output_like(0, 0);
}

void add(OpLibrary& library, std::string_view name, ShapeFn shape, KernelFn fn,
         std::string_view doc) {
  KernelOptions options;
  options.prepare = prepare;
  options.labels = {"", "host"}; // one that TensorFlow's rewriting keeps off GPUs
  library.op(name)
      .input("x: T")
      .output("y: T")
      .attr("T: {int32, int64} = DT_INT32; src_format: string = 'NHWC'; "
            "dst_format: string = 'NCHW'")
      .shape_fn(shape)
      .not_differentiable("its values are integers")
      .cpu_kernel(fn, options)
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add(library, "DataFormatDimMap", shape_unchanged, compute_map,
      "The dimensions of one format as those of another.");
  add(library, "DataFormatVecPermute", infer_permute, compute_permute,
      "Numbers of each dimension in the order of another format.");
}

} // namespace troupe::nn_data_format
