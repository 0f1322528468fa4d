// Conv3D and its gradients. Where planes are large they are images: each plane of the filter makes
// a convolution of two dimensions, and their results are added. Where planes are small, windows are
// laid out as rows of a matrix, a block at a time, and multiplied with the filter.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/conv.hpp"
#include "kernels/arith/gemm.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/nn/internal/channels_first.hpp"
#include "kernels/nn/internal/volume.hpp"

namespace troupe::nn_conv3d {
namespace {

using nn::Three;
using nn::Volume;

struct Conv {
  Volume v;
  std::int64_t filters = 0;
  std::int64_t row() const { return v.window_positions() * v.channels; }
};

Result<Conv> conv_sizes(const nn::VolumeAttrs& attrs, const Shape& in, const Shape& filter) {
  if (in.rank() != 5)
    return invalid_argument("input must be 5-dimensional");
  if (filter.rank() != 5)
    return invalid_argument("filter must be 5-dimensional");
  if (filter[3] == 0)
    return invalid_argument("filter_depth must be non-zero");
  if (in[4] % filter[3] != 0)
    return invalid_argument(str_cat("Input depth must be evenly divisible by filter depth: ", in[4],
                                    " vs ", filter[3]));
  if (filter.num_elements() == 0)
    return invalid_argument(
        "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  Conv conv;
  TROUPE_ASSIGN(conv.v, nn::volume_sizes(attrs, in, Three{filter[0], filter[1], filter[2]}));
  conv.filters = filter[4];
  return conv;
}

/// Of a gradient of the output of shape `dy`; `op` is what TensorFlow calls the kernel.
Result<Conv> gradient_sizes(std::string_view op, const nn::VolumeAttrs& attrs, const Shape& in,
                            const Shape& filter, const Shape& dy) {
  if (in.rank() != 5)
    return invalid_argument("input tensor must have 5 dimensions");
  if (filter.rank() != 5)
    return invalid_argument("filter_sizes tensor must have 5 dimensions");
  if (dy.rank() != 5)
    return invalid_argument("out_backprop tensor must have 5 dimensions");
  const auto channels = [](std::string_view name, std::int64_t size, std::int64_t of_filter) {
    return invalid_argument(str_cat(name,
                                    " and filter_sizes must have the same number of channels. Got ",
                                    size, " for ", name, " and ", of_filter, " for filter_sizes"));
  };
  if (in[4] != filter[3])
    return channels("input", in[4], filter[3]);
  if (dy[4] != filter[4])
    return channels("out_backprop", dy[4], filter[4]);
  if (in[0] != dy[0])
    return invalid_argument(str_cat(op,
                                    ": input and out_backprop must have the same batch size. Input "
                                    "batch: ",
                                    in[0], ", outbackprop batch: ", dy[0], ", batch_dim: 0"));
  if (filter[3] == 0)
    return invalid_argument(str_cat(op, ": filter depth must be strictly greated than zero"));
  Conv conv;
  TROUPE_ASSIGN(conv.v, nn::volume_sizes(attrs, in, Three{filter[0], filter[1], filter[2]}));
  conv.filters = filter[4];
  for (std::size_t i = 0; i < 3; ++i)
    if (const std::int64_t given = dy[static_cast<int>(i) + 1]; given != conv.v.out[i])
      return invalid_argument(
          str_cat(op, ": Size of out_backprop doesn't match computed: actual = ", given,
                  ", computed = ", conv.v.out[i], " spatial_dim: ", i + 1, " input: ", conv.v.in[i],
                  " filter: ", conv.v.window[i], " output: ", given, " stride: ", conv.v.stride[i],
                  " dilation: ", conv.v.dilation[i]));
  return conv;
}

/// Output positions whose windows are laid out at once: about 1 MiB.
std::int64_t block_of(const Conv& conv, std::size_t size) {
  const std::int64_t most = (1 << 20) / static_cast<std::int64_t>(size);
  return std::clamp<std::int64_t>(most / std::max<std::int64_t>(conv.row(), 1), 1,
                                  std::max<std::int64_t>(conv.v.out_positions(), 1));
}

/// Windows [begin, end) of one batch entry as rows; padding is 0.
template <class T>
void lay_out(const Volume& v, const T* x, std::int64_t begin, std::int64_t end, T* rows) {
  const std::int64_t row = v.window_positions() * v.channels;
  std::fill_n(rows, (end - begin) * row, T(0));
  for (std::int64_t o = begin; o < end; ++o)
    nn::for_each_in_window(v, o, [&](std::int64_t at, std::int64_t w) {
      std::copy_n(x + at * v.channels, v.channels, rows + (o - begin) * row + w * v.channels);
    });
}

/// Adds such rows to where their windows lie.
template <class T>
void add_back(const Volume& v, const T* rows, std::int64_t begin, std::int64_t end, T* x) {
  const std::int64_t row = v.window_positions() * v.channels;
  for (std::int64_t o = begin; o < end; ++o)
    nn::for_each_in_window(v, o, [&](std::int64_t at, std::int64_t w) {
      const T* from = rows + (o - begin) * row + w * v.channels;
      T* to = x + at * v.channels;
      for (std::int64_t i = 0; i < v.channels; ++i)
        to[i] += from[i];
    });
}

double cost_of(const Conv& conv) {
  return 0.2 * static_cast<double>(conv.v.out_positions() * conv.row()) *
         static_cast<double>(conv.filters + 4);
}

/// Calls body(entry, begin, end) for blocks of output positions, one batch entry on one thread.
template <class Body>
void for_each_block(KernelContext& c, const Conv& conv, std::int64_t block, Body body) {
  c.parallel_for(conv.v.batch, cost_of(conv), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t n = first; n < last; ++n)
      for (std::int64_t o = 0; o < conv.v.out_positions(); o += block)
        body(n, o, std::min(o + block, conv.v.out_positions()));
  });
}

template <class T>
void forward(KernelContext& c, const Conv& conv, const Tensor& x, const Tensor& w, Tensor& y) {
  const std::int64_t block = block_of(conv, sizeof(T));
  for_each_block(c, conv, block, [&](std::int64_t n, std::int64_t begin, std::int64_t end) {
    thread_local std::vector<T> rows;
    rows.resize(static_cast<std::size_t>(block * conv.row()));
    lay_out(conv.v, x.data<T>().data() + n * conv.v.in_positions() * conv.v.channels, begin, end,
            rows.data());
    const arith::GemmShape shape{.m = end - begin, .n = conv.filters, .k = conv.row()};
    arith::gemm_rows(arith::type_of(x.dtype()), shape, rows.data(), w.raw(),
                     y.mutable_data<T>().data() +
                         (n * conv.v.out_positions() + begin) * conv.filters,
                     0, shape.m);
  });
}

template <class T>
void backward_input(KernelContext& c, const Conv& conv, const Tensor& w, const Tensor& dy,
                    Tensor& dx) {
  const std::int64_t block = block_of(conv, sizeof(T));
  std::ranges::fill(dx.mutable_data<T>(), T(0));
  for_each_block(c, conv, block, [&](std::int64_t n, std::int64_t begin, std::int64_t end) {
    thread_local std::vector<T> rows;
    rows.resize(static_cast<std::size_t>(block * conv.row()));
    const arith::GemmShape shape{
        .m = end - begin, .n = conv.row(), .k = conv.filters, .transpose_b = true};
    arith::gemm_rows(arith::type_of(dx.dtype()), shape,
                     dy.data<T>().data() + (n * conv.v.out_positions() + begin) * conv.filters,
                     w.raw(), rows.data(), 0, shape.m);
    add_back(conv.v, rows.data(), begin, end,
             dx.mutable_data<T>().data() + n * conv.v.in_positions() * conv.v.channels);
  });
}

template <class T>
void backward_filter(KernelContext& c, const Conv& conv, const Tensor& x, const Tensor& dy,
                     Tensor& dw) {
  const std::int64_t block = block_of(conv, sizeof(T));
  std::vector<T> rows(static_cast<std::size_t>(block * conv.row()));
  std::vector<T> part(static_cast<std::size_t>(conv.row() * conv.filters));
  const auto sum = dw.mutable_data<T>();
  std::ranges::fill(sum, T(0));
  for (std::int64_t n = 0; n < conv.v.batch; ++n)
    for (std::int64_t o = 0; o < conv.v.out_positions(); o += block) {
      c.stop_if_cancelled();
      const std::int64_t end = std::min(o + block, conv.v.out_positions());
      lay_out(conv.v, x.data<T>().data() + n * conv.v.in_positions() * conv.v.channels, o, end,
              rows.data());
      const arith::GemmShape shape{
          .m = conv.row(), .n = conv.filters, .k = end - o, .transpose_a = true};
      arith::gemm_rows(arith::type_of(x.dtype()), shape, rows.data(),
                       dy.data<T>().data() + (n * conv.v.out_positions() + o) * conv.filters,
                       part.data(), 0, shape.m);
      for (std::size_t i = 0; i < part.size(); ++i)
        sum[i] += part[i];
    }
}

/// A call for each plane takes some microseconds, which few pixels would not be worth.
bool has_large_planes(const Conv& conv) {
  constexpr std::int64_t pixels = 64;
  return conv.v.out[1] * conv.v.out[2] >= pixels && conv.v.in[1] * conv.v.in[2] > 0 &&
         conv.v.channels > 0 && conv.filters > 0;
}

/// One plane of the filter over `planes` planes, of one batch entry. Results are to be plain sums,
/// as those of the other way are.
arith::Conv2DShape plane_shape(const Conv& conv, std::int64_t planes) {
  const Volume& v = conv.v;
  return {.batch = planes,
          .in_h = v.in[1],
          .in_w = v.in[2],
          .in_c = v.channels,
          .filter_h = v.window[1],
          .filter_w = v.window[2],
          .out_h = v.out[1],
          .out_w = v.out[2],
          .out_c = conv.filters,
          .stride_h = v.stride[1],
          .stride_w = v.stride[2],
          .dilation_h = v.dilation[1],
          .dilation_w = v.dilation[2],
          .pad_top = v.before[1],
          .pad_left = v.before[2],
          .may_use_winograd = false};
}

/// Elements of one plane.
struct PlaneSizes {
  std::int64_t in, filter, out;
  explicit PlaneSizes(const Conv& conv)
      : in(conv.v.in[1] * conv.v.in[2] * conv.v.channels),
        filter(conv.v.window[1] * conv.v.window[2] * conv.v.channels * conv.filters),
        out(conv.v.out[1] * conv.v.out[2] * conv.filters) {}
};

/// Nanoseconds for one plane of the filter and one of the output.
double plane_cost(const Conv& conv) {
  constexpr double products_per_ns = 25;
  return static_cast<double>(PlaneSizes(conv).filter * conv.v.out[1] * conv.v.out[2]) /
         products_per_ns;
}

/// Makes planes, `size` elements each, of all batch entries: the sum of what run(entry, plane, k,
/// to) writes to `to` for those planes k of the filter for which it returns true.
template <class T, class Run>
Status sum_planes(KernelContext& c, std::int64_t batch, std::int64_t planes, const Conv& conv,
                  std::int64_t size, double cost, T* out, Run run) {
  TROUPE_ASSIGN(const auto add, arith::add_n(dtype_of<T>));
  c.parallel_for(batch * planes, cost, [&](std::int64_t begin, std::int64_t end) {
    thread_local std::vector<T> room;
    room.resize(static_cast<std::size_t>(size));
    for (std::int64_t i = begin; i < end; ++i) {
      T* to = out + i * size;
      bool is_first = true;
      for (std::int64_t k = 0; k < conv.v.window[0]; ++k) {
        if (!run(i / planes, i % planes, k, is_first ? to : room.data()))
          continue;
        const void* both[] = {to, room.data()};
        if (!is_first)
          add(both, 2, to, 0, size);
        is_first = false;
      }
      if (is_first)
        std::fill_n(to, size, T(0));
    }
  });
  return {};
}

template <class T>
Status forward_by_planes(KernelContext& c, const Conv& conv, const Tensor& x, const Tensor& w,
                         Tensor& y) {
  const Volume& v = conv.v;
  const arith::Conv2DShape shape = plane_shape(conv, 1);
  const PlaneSizes sizes(conv);
  const T *in = x.data<T>().data(), *filter = w.data<T>().data();
  return sum_planes(
      c, v.batch, v.out[0], conv, sizes.out, plane_cost(conv) * static_cast<double>(v.window[0]),
      y.mutable_data<T>().data(), [&](std::int64_t n, std::int64_t o, std::int64_t k, T* to) {
        const std::int64_t at = o * v.stride[0] - v.before[0] + k * v.dilation[0];
        if (at < 0 || at >= v.in[0])
          return false;
        arith::conv2d_forward(arith::type_of(x.dtype()), shape, in + (n * v.in[0] + at) * sizes.in,
                              filter + k * sizes.filter, to, 0, 1);
        return true;
      });
}

template <class T>
Status backward_input_by_planes(KernelContext& c, const Conv& conv, const Tensor& w,
                                const Tensor& dy, Tensor& dx) {
  const Volume& v = conv.v;
  const arith::Conv2DShape shape = plane_shape(conv, 1);
  const PlaneSizes sizes(conv);
  const T *filter = w.data<T>().data(), *grad = dy.data<T>().data();
  const double all = plane_cost(conv) * static_cast<double>(v.window[0] * v.out[0]);
  return sum_planes(c, v.batch, v.in[0], conv, sizes.in, all / static_cast<double>(v.in[0]),
                    dx.mutable_data<T>().data(),
                    [&](std::int64_t n, std::int64_t i, std::int64_t k, T* to) {
                      const std::int64_t at = i + v.before[0] - k * v.dilation[0];
                      if (at < 0 || at % v.stride[0] != 0 || at / v.stride[0] >= v.out[0])
                        return false;
                      arith::conv2d_backward_input(
                          arith::type_of(dx.dtype()), shape, filter + k * sizes.filter,
                          grad + (n * v.out[0] + at / v.stride[0]) * sizes.out, to, 0, 1);
                      return true;
                    });
}

/// The output planes for which plane k of the filter lies inside the input.
std::pair<std::int64_t, std::int64_t> planes_with(const Volume& v, std::int64_t k) {
  const std::int64_t first = k * v.dilation[0] - v.before[0], step = v.stride[0];
  const std::int64_t begin = first < 0 ? (step - 1 - first) / step : 0;
  const std::int64_t end = first < v.in[0] ? (v.in[0] - first + step - 1) / step : 0;
  return {begin, std::max(begin, std::min(end, v.out[0]))};
}

/// The sum over planes of one batch entry into a plane of the filter. Neighbouring planes are
/// images of one batch; those that lie apart are taken one by one, through `room`.
template <class T>
void add_to_filter_plane(const Conv& conv, std::int64_t k, const T* x, const T* dy, T* room,
                         const arith::AddNKernel& add, T* dw) {
  const Volume& v = conv.v;
  const PlaneSizes sizes(conv);
  const auto [first, last] = planes_with(v, k);
  const std::int64_t planes = v.stride[0] == 1 ? last - first : 1;
  for (std::int64_t o = first; o < last; o += planes) {
    const std::int64_t at = o * v.stride[0] - v.before[0] + k * v.dilation[0];
    arith::conv2d_backward_filter(arith::type_of(dtype_of<T>), plane_shape(conv, planes),
                                  x + at * sizes.in, dy + o * sizes.out, room, 0, planes);
    const void* both[] = {dw, room};
    add(both, 2, dw, 0, sizes.filter);
  }
}

// Threads share the filter's planes and parts of the batch; each part has a sum of its own, the
// first one in the output.
template <class T>
Status backward_filter_by_planes(KernelContext& c, const Conv& conv, const Tensor& x,
                                 const Tensor& dy, Tensor& dw) {
  constexpr std::int64_t max_parts = 64;
  const Volume& v = conv.v;
  const PlaneSizes sizes(conv);
  const std::int64_t parts = std::clamp<std::int64_t>(
      std::min<std::int64_t>(v.batch, c.device().compute().threads()), 1, max_parts);
  const std::int64_t size = dw.num_elements();
  TROUPE_ASSIGN(const auto add, arith::add_n(dw.dtype()));
  TROUPE_ASSIGN(Tensor others, c.allocate_temp(dw.dtype(), Shape{parts - 1, size}));
  std::ranges::fill(dw.mutable_data<T>(), T(0));
  std::ranges::fill(others.mutable_data<T>(), T(0));
  std::array<const void*, max_parts> sums{dw.raw()};
  for (std::int64_t i = 1; i < parts; ++i)
    sums[static_cast<std::size_t>(i)] = others.rows(i - 1, i).raw();
  const double all = plane_cost(conv) * static_cast<double>(v.batch * v.window[0] * v.out[0]);
  const std::int64_t units = parts * v.window[0];
  c.parallel_for(
      units, all / static_cast<double>(units), [&](std::int64_t begin, std::int64_t end) {
        thread_local std::vector<T> room;
        room.resize(static_cast<std::size_t>(sizes.filter));
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t part = i / v.window[0], k = i % v.window[0];
          T* to = static_cast<T*>(const_cast<void*>(sums[static_cast<std::size_t>(part)])) +
                  k * sizes.filter;
          for (std::int64_t n = part * v.batch / parts; n < (part + 1) * v.batch / parts; ++n)
            add_to_filter_plane(conv, k, x.data<T>().data() + n * v.in[0] * sizes.in,
                                dy.data<T>().data() + n * v.out[0] * sizes.out, room.data(), add,
                                to);
        }
      });
  if (parts > 1)
    c.parallel_for(size, 0.3, [&](std::int64_t begin, std::int64_t end) {
      add(sums.data(), static_cast<int>(parts), dw.mutable_raw(), begin, end);
    });
  return {};
}

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &w = c.input(1);
  TROUPE_ASSIGN(const Conv conv, conv_sizes(c.prepared<nn::VolumeAttrs>(), x.shape(), w.shape()));
  TROUPE_ASSIGN(const Shape out, nn::volume_shape(conv.v.batch, conv.v.out, conv.filters));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, out));
  if (y.num_elements() == 0)
    return {};
  if (x.shape()[4] != w.shape()[3])
    return invalid_argument(str_cat("Number of channels in filter (", w.shape()[3],
                                    ") must match last dimension of input (", x.shape()[4], ")"));
  return dispatch(Floats{}, x.dtype(), [&]<class T>() -> Status {
    if (has_large_planes(conv))
      return forward_by_planes<T>(c, conv, x, w, y);
    forward<T>(c, conv, x, w, y);
    return {};
  });
}

/// The shape that input `i` names, or has where it is no vector of sizes.
Result<Shape> target_shape(KernelContext& c, int i, bool by_sizes) {
  const Shape& shape = c.input(i).shape();
  if (!by_sizes)
    return shape;
  if (shape.rank() != 1 && i == 0)
    return invalid_argument(str_cat("shape must be a vector of {int32,int64}, got shape ", shape));
  if (shape.rank() != 1)
    return invalid_argument(
        str_cat("filter_sizes shape must be rank 1 but is rank ", shape.rank()));
  return shape_from(c.input(i));
}

Status compute_input(KernelContext& c, bool by_sizes) {
  const Tensor &w = c.input(1), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape in, target_shape(c, 0, by_sizes));
  TROUPE_ASSIGN(const Conv conv,
                gradient_sizes("Conv3DBackpropInputOp", c.prepared<nn::VolumeAttrs>(), in,
                               w.shape(), dy.shape()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, in));
  if (dx.num_elements() == 0)
    return {};
  if (w.num_elements() == 0 || dy.num_elements() == 0) {
    std::memset(dx.mutable_raw(), 0, dx.byte_size());
    return {};
  }
  return dispatch(Floats{}, dx.dtype(), [&]<class T>() -> Status {
    if (has_large_planes(conv))
      return backward_input_by_planes<T>(c, conv, w, dy, dx);
    backward_input<T>(c, conv, w, dy, dx);
    return {};
  });
}

Status compute_filter(KernelContext& c, bool by_sizes) {
  const Tensor &x = c.input(0), &dy = c.input(2);
  TROUPE_ASSIGN(const Shape filter, target_shape(c, 1, by_sizes));
  TROUPE_ASSIGN(const Conv conv,
                gradient_sizes("Conv3DBackpropFilterOp", c.prepared<nn::VolumeAttrs>(), x.shape(),
                               filter, dy.shape()));
  TROUPE_ASSIGN(Tensor dw, c.allocate_output(0, filter));
  if (dw.num_elements() == 0)
    return {};
  if (x.num_elements() == 0 || dy.num_elements() == 0) {
    std::memset(dw.mutable_raw(), 0, dw.byte_size());
    return {};
  }
  return dispatch(Floats{}, dw.dtype(), [&]<class T>() -> Status {
    if (has_large_planes(conv))
      return backward_filter_by_planes<T>(c, conv, x, dy, dw);
    backward_filter<T>(c, conv, x, dy, dw);
    return {};
  });
}

template <bool by_sizes>
Status compute_input(KernelContext& c) {
  return compute_input(c, by_sizes);
}
template <bool by_sizes>
Status compute_filter(KernelContext& c) {
  return compute_filter(c, by_sizes);
}

template <int sizes>
Status infer_from_sizes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(sizes, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(sizes));
  if (!shape.has_rank())
    shape = {-1, -1, -1, -1, -1};
  if (shape.rank() != 5)
    return invalid_argument(str_cat("Shape must be rank 5 but is rank ", shape.rank()));
  return c.set_output(0, std::move(shape));
}

AttrMap conv_attrs(GradContext& g) {
  AttrMap attrs;
  for (const char* name : {"strides", "padding", "data_format", "dilations"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  return attrs;
}

Status differentiate(GradContext& g) {
  const Value x = g.input(0), w = g.input(1), dy = g.output_grad(0);
  TROUPE_TRY(
      g.set_input_grad(0, g.op("Conv3DBackpropInputV2", {g.shape_of(x), w, dy}, conv_attrs(g))));
  return g.set_input_grad(1, g.op("Conv3DBackpropFilterV2", {x, g.shape_of(w), dy}, conv_attrs(g)));
}

Status differentiate_input(GradContext& g) {
  const Value w = g.input(1), dy = g.input(2), ddx = g.output_grad(0);
  TROUPE_TRY(
      g.set_input_grad(1, g.op("Conv3DBackpropFilterV2", {ddx, g.shape_of(w), dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("Conv3D", {ddx, w}, conv_attrs(g)));
}

Status differentiate_filter(GradContext& g) {
  const Value x = g.input(0), dy = g.input(2), ddw = g.output_grad(0);
  TROUPE_TRY(
      g.set_input_grad(0, g.op("Conv3DBackpropInputV2", {g.shape_of(x), ddw, dy}, conv_attrs(g))));
  return g.set_input_grad(2, g.op("Conv3D", {x, ddw}, conv_attrs(g)));
}

// Kernels of TensorFlow's by which graphs ask for a way to compute what there is one of here.
const std::vector<std::string> gradient_labels = {"", "custom", "eigen_tensor"};

KernelOptions options(std::vector<DType> types, std::vector<std::string> host = {},
                      std::vector<std::string> labels = {}) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.host_inputs = std::move(host);
  out.prepare = nn::prepare_any_format<nn::prepare_volume>;
  out.expensive = true;
  out.labels = std::move(labels);
  return out;
}
KernelOptions gradient_options(std::vector<DType> types, std::vector<std::string> host = {}) {
  return options(std::move(types), std::move(host), gradient_labels);
}

constexpr nn::ImageArgs forward_args{.images = 1};
constexpr nn::ImageArgs by_input{.images = 4, .sizes = 1};
constexpr nn::ImageArgs by_filter{.images = 1 | 4, .makes_image = false};

constexpr auto padding_attrs = "strides: list(int) >= 5; padding: {'SAME', 'VALID'}";
constexpr auto format_attr = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'";
constexpr auto dilation_attr = "dilations: list(int) = [1, 1, 1, 1, 1]";
constexpr auto all_floats = "T: {half, bfloat16, float, double}";

void add_old_gradients(OpLibrary& library) {
  const std::vector<DType> wide = {DType::float32, DType::float64}, half = {DType::float16};
  library.op("Conv3DBackpropInput")
      .input("input: T; filter: T; out_backprop: T")
      .output("output: T")
      .attr("T: {half, float, double}")
      .attr(padding_attrs)
      .attr(dilation_attr)
      .shape_fn(shape_unchanged)
      .not_differentiable("Conv3DBackpropInputV2 is")
      .cpu_kernel(compute_input<false>, gradient_options(wide))
      .cpu_kernel(in_wider<compute_input<false>>, gradient_options(half))
      .doc("The gradient of Conv3D by its input.");
  library.op("Conv3DBackpropFilter")
      .input("input: T; filter: T; out_backprop: T")
      .output("output: T")
      .attr("T: {half, float, double}")
      .attr(padding_attrs)
      .attr(dilation_attr)
      .shape_fn([](ShapeContext& c) { return c.output_like(0, 1); })
      .not_differentiable("Conv3DBackpropFilterV2 is")
      .cpu_kernel(compute_filter<false>, gradient_options(wide))
      .cpu_kernel(in_wider<compute_filter<false>>, gradient_options(half))
      .doc("The gradient of Conv3D by its filter.");
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::vector<DType> wide = {DType::float32, DType::float64};
  const std::vector<DType> narrow = {DType::float16, DType::bfloat16};
  library.op("Conv3D")
      .input("input: T; filter: T")
      .output("output: T")
      .attr(all_floats)
      .attr(padding_attrs)
      .attr(format_attr)
      .attr(dilation_attr)
      .shape_fn(nn::infer_volume_conv)
      .gradient(differentiate)
      .cpu_kernel(nn::any_format<compute, forward_args>, options(wide))
      .cpu_kernel(nn::any_format<in_wider<compute>, forward_args>, options(narrow))
      .doc("Convolution over planes, rows and columns.");
  library.op("Conv3DBackpropInputV2")
      .input("input_sizes: Tshape; filter: T; out_backprop: T")
      .output("output: T")
      .attr(all_floats)
      .attr(padding_attrs)
      .attr(format_attr)
      .attr(dilation_attr)
      .attr("Tshape: {int32, int64} = DT_INT32")
      .shape_fn(infer_from_sizes<0>)
      .gradient(differentiate_input)
      .cpu_kernel(nn::any_format<compute_input<true>, by_input>,
                  gradient_options(wide, {"input_sizes"}))
      .cpu_kernel(nn::any_format<in_wider<compute_input<true>>, by_input>,
                  gradient_options(narrow, {"input_sizes"}))
      .doc("The gradient of Conv3D by its input.");
  library.op("Conv3DBackpropFilterV2")
      .input("input: T; filter_sizes: int32; out_backprop: T")
      .output("output: T")
      .attr(all_floats)
      .attr(padding_attrs)
      .attr(format_attr)
      .attr(dilation_attr)
      .shape_fn(infer_from_sizes<1>)
      .gradient(differentiate_filter)
      .cpu_kernel(nn::any_format<compute_filter<true>, by_filter>,
                  gradient_options(wide, {"filter_sizes"}))
      .cpu_kernel(nn::any_format<in_wider<compute_filter<true>>, by_filter>,
                  gradient_options(narrow, {"filter_sizes"}))
      .doc("The gradient of Conv3D by its filter.");
  add_old_gradients(library);
}

} // namespace troupe::nn_conv3d
