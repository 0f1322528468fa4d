// FractionalMaxPool and FractionalAvgPool: pools whose windows are of two neighbouring sizes, in an
// order drawn anew for rows and columns (Graham, "Fractional max-pooling", 2014).
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "kernels/arith/philox.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/wrapping.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn_fractional_pool {
namespace {

using Ints = std::vector<std::int64_t>;
using Numbers = Types<float, double, std::int32_t, std::int64_t>;

struct Attrs {
  std::vector<float> ratio;
  bool pseudo_random = false, overlapping = false, deterministic = false;
  std::uint64_t seed = 0, seed2 = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.ratio, c.attr<std::vector<float>>("pooling_ratio"));
  TROUPE_ASSIGN(out.pseudo_random, c.attr<bool>("pseudo_random"));
  TROUPE_ASSIGN(out.overlapping, c.attr<bool>("overlapping"));
  TROUPE_ASSIGN(out.deterministic, c.attr<bool>("deterministic"));
  TROUPE_ASSIGN(const auto seed, c.attr<std::int64_t>("seed"));
  TROUPE_ASSIGN(const auto seed2, c.attr<std::int64_t>("seed2"));
  out.seed = static_cast<std::uint64_t>(seed);
  out.seed2 = static_cast<std::uint64_t>(seed2);
  if (out.ratio.size() != 4)
    return invalid_argument("pooling_ratio field must specify 4 dimensions");
  for (const float ratio : out.ratio)
    if (!(ratio >= 1))
      return invalid_argument(str_cat("pooling_ratio cannot be smaller than 1, got: ", ratio));
  if (out.ratio[0] != 1 && out.ratio[3] != 1)
    return unimplemented("Fractional pooling is not yet supported on the batch nor channel "
                         "dimension.");
  if (out.ratio[0] != 1 || out.ratio[3] != 1)
    return invalid_argument("the pooling_ratio of batch and channels must be 1");
  if (!out.deterministic && (seed != 0 || seed2 != 0))
    return invalid_argument("Both seed and seed2 should be 0 if deterministic is false.");
  if (seed == 0 && seed2 == 0 && out.deterministic) {
    out.seed = random_id();
    out.seed2 = random_id();
  }
  return prepared(std::move(out));
}

/// The sizes of `count` windows over `length`, shuffled.
Ints shuffled_sizes(std::int64_t length, std::int64_t count, arith::Philox generator) {
  Ints sizes(static_cast<std::size_t>(count), length / count);
  std::fill_n(sizes.begin(), length % count, length / count + 1);
  arith::Philox::Block block{};
  std::size_t used = block.size();
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (used == block.size()) {
      block = generator.next();
      used = 0;
    }
    std::swap(sizes[i], sizes[i + block[used++] % static_cast<std::uint32_t>(sizes.size() - i)]);
  }
  return sizes;
}

/// Where windows end that follow ceil(alpha (i + u)), u drawn so that sizes differ by one at most.
Ints stepped_sizes(std::int64_t length, std::int64_t count, arith::Philox generator) {
  const double alpha = static_cast<double>(length) / static_cast<double>(count);
  const std::int64_t k = length / count;
  const double most =
      std::min(static_cast<double>(k + 2) / alpha - 1,
               static_cast<double>(length + 1 - k) / alpha - static_cast<double>(count - 1));
  const auto words = generator.next();
  const std::uint64_t mantissa = (std::uint64_t{words[0] & 0xfffffU} << 32) | words[1];
  const double u = (std::bit_cast<double>((std::uint64_t{1023} << 52) | mantissa) - 1.0) * most;
  Ints ends(static_cast<std::size_t>(count) + 1, 1);
  ends.back() = length + 1;
  for (std::int64_t i = 1; i < count; ++i)
    ends[static_cast<std::size_t>(i)] =
        static_cast<std::int64_t>(std::ceil(alpha * (static_cast<double>(i) + u)));
  Ints sizes;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    sizes.push_back(ends[i + 1] - ends[i]);
  return sizes;
}

/// Where windows begin, and where the last ends. Takes what it draws off the generator.
Ints sequence(std::int64_t length, std::int64_t count, bool pseudo_random,
              arith::Philox& generator) {
  const Ints sizes = pseudo_random ? stepped_sizes(length, count, generator)
                                   : shuffled_sizes(length, count, generator);
  generator.skip(pseudo_random ? 1 : static_cast<std::uint64_t>(count + 3) / 4);
  Ints out = {0};
  for (const std::int64_t size : sizes)
    out.push_back(out.back() + size);
  return out;
}

struct Images {
  std::int64_t batch = 0, rows = 0, columns = 0, channels = 0;
};
Images images(const Shape& s) {
  return {s[0], s[1], s[2], s[3]};
}

/// The pixels [begin, end) that window i holds of `length` ones.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return std::max<std::int64_t>(end - begin, 0); }
};
Range range_of(std::span<const std::int64_t> sequence, std::int64_t i, bool overlapping,
               std::int64_t length) {
  const auto at = static_cast<std::size_t>(i);
  const std::int64_t end = std::min(sequence[at + 1], length);
  return {sequence[at], std::min(overlapping ? end + 1 : end, length)};
}

struct Windows {
  Images in, out;
  std::span<const std::int64_t> rows, columns;
  bool overlapping = false;

  /// body(position in the input) for each pixel of the window at output position o of all images;
  /// gives how many there are.
  template <class Body>
  std::int64_t for_each_in(std::int64_t o, Body body) const {
    const Range h = range_of(rows, o / out.columns % out.rows, overlapping, in.rows);
    const Range w = range_of(columns, o % out.columns, overlapping, in.columns);
    const std::int64_t image = o / (out.rows * out.columns) * in.rows;
    const std::int64_t count = h.size() * w.size();
    for (std::int64_t y = h.begin; y < h.end; ++y)
      for (std::int64_t x = w.begin; x < w.end; ++x)
        body((image + y) * in.columns + x, count);
    return count;
  }
  std::int64_t positions() const { return out.batch * out.rows * out.columns; }
  double cost() const {
    return static_cast<double>(in.rows) / static_cast<double>(std::max<std::int64_t>(out.rows, 1)) *
           static_cast<double>(in.columns * in.channels) /
           static_cast<double>(std::max<std::int64_t>(out.columns, 1)) * 2;
  }
};

template <class T, bool average>
void pool(KernelContext& c, const Windows& s, Tensor& y) {
  const T* from = c.input(0).data<T>().data();
  T* to = y.mutable_data<T>().data();
  const std::int64_t depth = s.in.channels;
  c.parallel_for(s.positions(), s.cost(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      T* out = to + o * depth;
      std::fill_n(out, depth, average ? T{0} : std::numeric_limits<T>::lowest());
      const std::int64_t count = s.for_each_in(o, [&](std::int64_t i, std::int64_t) {
        const T* pixel = from + i * depth;
        for (std::int64_t d = 0; d < depth; ++d)
          out[d] = average ? add_wrapping(out[d], pixel[d]) : std::max(out[d], pixel[d]);
      });
      for (std::int64_t d = 0; average && d < depth; ++d)
        out[d] /= static_cast<T>(std::max<std::int64_t>(count, 1));
    }
  });
}

Status give_sequence(KernelContext& c, int i, const Ints& sequence) {
  TROUPE_ASSIGN(Tensor out,
                c.allocate_output(i, Shape{static_cast<std::int64_t>(sequence.size())}));
  std::ranges::copy(sequence, out.mutable_data<std::int64_t>().begin());
  return {};
}

template <bool average>
Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const auto& a = c.prepared<Attrs>();
  if (x.shape().rank() != 4)
    return invalid_argument("tensor_in must be 4-dimensional");
  Ints dims;
  for (int i = 0; i < 4; ++i) {
    const float ratio = a.ratio[static_cast<std::size_t>(i)];
    if (x.shape()[i] > INT32_MAX)
      return invalid_argument(str_cat("Input dim_size ", x.shape()[i], " is beyond 2^31 - 1"));
    if (!(static_cast<float>(x.shape()[i]) >= ratio))
      return invalid_argument(
          str_cat("Pooling ratio is higher than input dimension size for dimension ", i,
                  ". Input dim size: ", x.shape()[i], " pooling ratio: ", ratio));
    dims.push_back(static_cast<std::int64_t>(std::floor(static_cast<float>(x.shape()[i]) / ratio)));
  }
  std::uint64_t seed = a.seed, seed2 = a.seed2;
  if (!a.deterministic) {
    seed = random_id();
    seed2 = random_id();
  }
  arith::Philox generator = arith::Philox::from_seeds(seed, seed2);
  const Ints rows = sequence(x.shape()[1], dims[1], a.pseudo_random, generator);
  const Ints columns = sequence(x.shape()[2], dims[2], a.pseudo_random, generator);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  TROUPE_TRY(give_sequence(c, 1, rows));
  TROUPE_TRY(give_sequence(c, 2, columns));
  const Windows windows{images(x.shape()), images(shape), rows, columns, a.overlapping};
  return dispatch(Numbers{}, x.dtype(), [&]<class T>() -> Status {
    pool<T, average>(c, windows, y);
    return {};
  });
}

/// Numbers in columns, as TensorFlow's messages show them.
std::string in_columns(std::span<const std::int64_t> values) {
  std::size_t width = 0;
  for (const std::int64_t value : values)
    width = std::max(width, str_cat(value).size());
  std::string out;
  for (const std::int64_t value : values) {
    const std::string text = str_cat(value);
    out += out.empty() ? "" : " ";
    out += std::string(width - text.size(), ' ') + text;
  }
  return out;
}

/// The sequences of a gradient op, whose inputs `at` and `at` + 1 they are; both are long enough
/// for `out`.
Windows given_windows(KernelContext& c, int at, const Shape& in, const Shape& out) {
  return {images(in), images(out), c.input(at).data<std::int64_t>(),
          c.input(at + 1).data<std::int64_t>(), c.attrs().get_or("overlapping", false)};
}

bool are_long_enough(KernelContext& c, int at, const Shape& out) {
  return c.input(at).num_elements() > out[1] && c.input(at + 1).num_elements() > out[2];
}

/// Whether one of the first `count` windows begins or ends before the image.
bool has_negative(std::span<const std::int64_t> sequence, std::int64_t count, bool overlapping) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (sequence[i] < 0 || sequence[i + 1] < (overlapping ? 0 : 1))
      return true;
  return false;
}

Status other_output() {
  return invalid_argument("tensor_out_dup is not the same as tensor_out");
}

Status compute_max_grad(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1), &dy = c.input(2);
  if (x.shape().rank() != 4)
    return invalid_argument(
        str_cat("orig_input should be a tensor of rank 4, got ", debug_string(x)));
  if (x.num_elements() == 0)
    return invalid_argument(str_cat("orig_input must not be empty, got ", debug_string(x)));
  if (y.shape().rank() != 4)
    return invalid_argument(
        str_cat("orig_output should be a tensor of rank 4, got ", debug_string(y)));
  if (y.num_elements() == 0)
    return invalid_argument(str_cat("orig_output must not be empty, got ", debug_string(y)));
  for (const auto& [i, name] : {std::pair{3, "row"}, std::pair{4, "col"}})
    if (c.input(i).shape().rank() != 1)
      return invalid_argument(
          str_cat(name, "_pooling_sequence must be a vector, received shape ", c.input(i).shape()));
  if (!are_long_enough(c, 3, y.shape()) || x.shape()[0] != y.shape()[0] ||
      x.shape()[3] != y.shape()[3])
    return other_output();
  const Windows s = given_windows(c, 3, x.shape(), y.shape());
  for (const auto& [sequence, count] :
       {std::pair{s.rows, s.out.rows}, std::pair{s.columns, s.out.columns}})
    for (std::size_t i = 0; i <= static_cast<std::size_t>(count); ++i)
      if (sequence[i] < 0 && i > 0)
        return other_output();
      else if (sequence[i] < 0)
        return invalid_argument(
            str_cat("Invalid input backprop index: ", sequence[i], ", ", x.num_elements()));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  return dispatch(Numbers{}, x.dtype(), [&]<class T>() -> Status {
    const T *from = x.data<T>().data(), *grad = dy.data<T>().data();
    std::ranges::fill(dx.mutable_data<T>(), T{});
    T* to = dx.mutable_data<T>().data();
    const std::int64_t depth = s.in.channels;
    std::vector<std::int64_t> largest(static_cast<std::size_t>(depth));
    const T* maxima = y.data<T>().data();
    bool is_empty = false, differs = false;
    c.serial_for(s.positions(), s.cost(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        std::ranges::fill(largest, -1);
        const std::int64_t count = s.for_each_in(o, [&](std::int64_t i, std::int64_t) {
          for (std::int64_t d = 0; d < depth; ++d)
            if (auto& at = largest[static_cast<std::size_t>(d)];
                at < 0 || from[at] < from[i * depth + d])
              at = i * depth + d;
        });
        is_empty |= count == 0;
        for (std::int64_t d = 0; count > 0 && d < depth; ++d) {
          const std::int64_t at = largest[static_cast<std::size_t>(d)];
          differs |= from[at] != maxima[o * depth + d];
          if (o * depth + d < dy.num_elements()) // there may be fewer
            to[at] += grad[o * depth + d];
        }
      }
    });
    if (is_empty || differs)
      return other_output();
    if (dy.num_elements() > y.num_elements())
      return invalid_argument(str_cat("out_backprop must have the shape of orig_output, ",
                                      y.shape(), ", got ", dy.shape()));
    return {};
  });
}

Status compute_avg_grad(KernelContext& c) {
  const Tensor &sizes = c.input(0), &dy = c.input(1);
  if (sizes.shape() != Shape{4})
    return invalid_argument("original input tensor shape must be1-dimensional and 4 elements");
  if (dy.shape().rank() != 4)
    return invalid_argument(str_cat("out_backprop must be 4-dimensional, got ", dy.shape()));
  for (const std::int64_t dim : dy.shape().dims())
    if (dim <= 0)
      return invalid_argument(
          str_cat("out_backprop must be positive for all dimension, got:", dim));
  for (const auto& [i, name] : {std::pair{1, "row"}, std::pair{2, "col"}})
    if (const std::int64_t given = c.input(i + 1).num_elements(); given <= dy.shape()[i])
      return invalid_argument(str_cat("Given out_backprop shape ", dy.shape(), ", ", name,
                                      "_seq_tensor must have at least ", dy.shape()[i] + 1,
                                      " elements, but got ", given));
  TROUPE_TRY(nn::check_not_negative(sizes));
  TROUPE_ASSIGN(const Shape shape, shape_from(sizes));
  constexpr const char* names[] = {"Batch", "Rows", "Columns", "Depth"};
  for (int i = 0; i < 4; ++i)
    if (shape[i] == 0)
      return invalid_argument(str_cat(names[i], " dimension of input must not be 0"));
  const Windows s = given_windows(c, 2, shape, dy.shape());
  if (has_negative(s.rows, s.out.rows, s.overlapping))
    return invalid_argument(
        str_cat("Row sequence tensor values must not be negative, got ", in_columns(s.rows)));
  if (has_negative(s.columns, s.out.columns, s.overlapping))
    return invalid_argument(
        str_cat("Column sequence tensor values must not be negative, got ", in_columns(s.columns)));
  if (shape[0] != dy.shape()[0] || shape[3] != dy.shape()[3])
    return invalid_argument(
        str_cat("batch and channels of ", shape, " and ", dy.shape(), " must be the same"));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, shape));
  TROUPE_ASSIGN(Tensor sums, c.allocate_temp(DType::float64, shape));
  const auto sum = sums.mutable_data<double>();
  std::ranges::fill(sum, 0);
  return dispatch(Numbers{}, dy.dtype(), [&]<class T>() -> Status {
    const T* grad = dy.data<T>().data();
    const std::int64_t depth = s.in.channels;
    c.serial_for(s.positions(), s.cost(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o)
        s.for_each_in(o, [&](std::int64_t i, std::int64_t count) {
          for (std::int64_t d = 0; d < depth; ++d)
            sum[static_cast<std::size_t>(i * depth + d)] +=
                static_cast<double>(grad[o * depth + d]) / static_cast<double>(count);
        });
    });
    std::ranges::transform(sum, dx.mutable_data<T>().begin(),
                           [](double value) { return static_cast<T>(value); });
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(Ints out, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(const auto ratio, c.attr<std::vector<float>>("pooling_ratio"));
  if (ratio.size() != 4)
    return invalid_argument("pooling_ratio field must specify 4 dimensions");
  for (std::size_t i = 0; i < 4; ++i) {
    if (!(ratio[i] >= 1))
      return invalid_argument(str_cat("pooling_ratio cannot be smaller than 1, got: ", ratio[i]));
    if (out[i] != shape_rules::unknown_dim)
      out[i] = static_cast<std::int64_t>(std::floor(static_cast<float>(out[i]) / ratio[i]));
  }
  const auto count = [](std::int64_t size) {
    return size == shape_rules::unknown_dim ? size : size + 1;
  };
  TROUPE_TRY(c.set_output(1, {count(out[1])}));
  TROUPE_TRY(c.set_output(2, {count(out[2])}));
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_max_grad(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 4));
  return c.output_like(0, 0);
}

Status infer_avg_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, c.input_as_shape(0));
  return c.set_output(0, out.has_rank() ? out : PartialShape{-1, -1, -1, -1});
}

KernelOptions options(bool forward) {
  KernelOptions out;
  out.types = {{"T", {DType::float32, DType::float64, DType::int32, DType::int64}}};
  if (forward)
    out.prepare = prepare;
  out.expensive = true;
  return out;
}

constexpr auto numbers = "T: {float, double, int32, int64}";

} // namespace

void register_ops(OpLibrary& library) {
  auto forward = [&](const char* name, KernelFn compute, const char* doc) {
    library.op(name)
        .input("value: T")
        .output("output: T; row_pooling_sequence: int64; col_pooling_sequence: int64")
        .attr("pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = "
              "false; deterministic: bool = false; seed: int = 0; seed2: int = 0")
        .attr(numbers)
        .shape_fn(infer)
        .not_differentiable("its gradient is an op that clients build")
        .cpu_kernel(compute, options(true))
        .doc(doc);
  };
  forward("FractionalMaxPool", compute<false>,
          "The largest element of each window; windows are drawn, of two neighbouring sizes.");
  forward("FractionalAvgPool", compute<true>,
          "The mean of each window; windows are drawn, of two neighbouring sizes.");
  library.op("FractionalMaxPoolGrad")
      .input("orig_input: T; orig_output: T; out_backprop: T; row_pooling_sequence: int64; "
             "col_pooling_sequence: int64")
      .output("output: T")
      .attr("overlapping: bool = false")
      .attr(numbers)
      .shape_fn(infer_max_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_max_grad, options(false))
      .doc("The gradient of FractionalMaxPool.");
  library.op("FractionalAvgPoolGrad")
      .input("orig_input_tensor_shape: int64; out_backprop: T; row_pooling_sequence: int64; "
             "col_pooling_sequence: int64")
      .output("output: T")
      .attr("overlapping: bool = false")
      .attr(numbers)
      .shape_fn(infer_avg_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_avg_grad, options(false))
      .doc("The gradient of FractionalAvgPool.");
}

} // namespace troupe::nn_fractional_pool
