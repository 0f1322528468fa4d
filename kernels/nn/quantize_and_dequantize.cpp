// QuantizeAndDequantize: numbers rounded to what integers of some bits tell apart within a range,
// for the whole tensor or for each index of one dimension; and the gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::nn_quantize_and_dequantize {
namespace {

struct Attrs {
  bool is_signed = true, range_given = false, narrow = false, half_up = false;
  std::int64_t bits = 8, axis = -1;
  float least = 0, most = 0; ///< where they are no inputs
};

/// `name`: what TensorFlow calls the attribute, in its kernels of attributes alone without quotes.
Status check_bits(std::int64_t bits, bool is_signed, std::string_view name = "signed_input_") {
  if (bits <= 0 || bits >= (is_signed ? 62 : 63))
    return invalid_argument(
        str_cat("num_bits is out of range: ", bits, " with ", name, " ", is_signed ? "1" : "0"));
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  out.is_signed = c.attrs().get_or("signed_input", true);
  out.range_given = c.attrs().get_or("range_given", false);
  out.narrow = c.attrs().get_or("narrow_range", false);
  out.half_up = c.attrs().get_or<std::string>("round_mode", "HALF_TO_EVEN") == "HALF_UP";
  out.bits = c.attrs().get_or("num_bits", out.bits);
  out.axis = c.attrs().get_or("axis", out.axis);
  TROUPE_TRY(check_bits(out.bits, out.is_signed));
  out.least = c.attrs().get_or("input_min", out.least);
  out.most = c.attrs().get_or("input_max", out.most);
  if (out.range_given && !(out.least <= out.most))
    return invalid_argument(
        str_cat("Invalid range: input_min ", out.least, " > input_max ", out.most));
  return prepared(out);
}

/// How many parts of the tensor have a range of their own, and what one of them looks like.
struct Parts {
  std::int64_t before = 1, count = 1, after = 1;
};

Result<Parts> parts_of(const Shape& shape, std::int64_t axis) {
  if (axis < -1)
    return invalid_argument(str_cat("Axis must be at least -1. Found ", axis));
  if (axis >= shape.rank())
    return invalid_argument(str_cat("Shape must be at least rank ",
                                    static_cast<std::uint64_t>(axis) + 1, " but is rank ",
                                    shape.rank()));
  Parts out;
  if (axis == -1) {
    out.after = shape.num_elements();
    return out;
  }
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? out.before : i == axis ? out.count : out.after) *= shape[i];
  return out;
}

/// Calls body(first element, last element) for each stretch of part i.
template <class Body>
void for_each_stretch(const Parts& p, std::int64_t i, Body body) {
  for (std::int64_t b = 0; b < p.before; ++b) {
    const std::int64_t begin = (b * p.count + i) * p.after;
    body(begin, begin + p.after);
  }
}

/// A range, widened so that it is a multiple of its steps.
template <class T>
struct Steps {
  T least, most, scale, inverse;

  Steps(const Attrs& a, std::int64_t bits, T least_, T most_) : least(least_), most(most_) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    const auto low = static_cast<T>(!a.is_signed ? 0 : a.narrow ? 1 - half : -half);
    const auto high = static_cast<T>(a.is_signed ? half - 1 : (half - 1) * 2 + 1);
    constexpr T none = std::numeric_limits<T>::max();
    const T by_least = low * least > 0 ? low / least : none;
    const T by_most = high * most > 0 ? high / most : none;
    if (by_least < by_most) {
      scale = by_least;
      inverse = least / low;
      most = high * inverse;
    } else {
      scale = by_most;
      inverse = most / high;
      least = low * inverse;
    }
  }
  T of(const Attrs& a, T x) const {
    if (a.range_given)
      x = std::max(std::min(x, most), least);
    x *= scale;
    return (a.half_up ? std::floor(x + T(0.5)) : std::nearbyint(x)) * inverse;
  }
};

/// Of V3 one number without an axis may have any shape.
Status check_range(const Tensor& given, const Parts& p, const Attrs& a, std::string_view name,
                   bool is_v3) {
  const Shape& shape = given.shape();
  if (a.axis == -1) {
    if (is_v3 ? given.num_elements() != 1 : !shape.is_scalar())
      return invalid_argument(str_cat(name, " must be a scalar."));
  } else if (shape.rank() != 1) {
    return invalid_argument(
        str_cat("Shape must be rank 1 for ", name, "_tensor when the axis is specified"));
  } else if (shape[0] != p.count) { // TensorFlow, too, shows the range's shape as the input's
    return invalid_argument(str_cat(name, "_tensor has incorrect size, was ", shape[0],
                                    " expected ", p.count, " to match dim ", a.axis,
                                    " of the input ", shape));
  }
  return {};
}

Status check_grad_range(const Shape& shape, const Parts& p, std::int64_t axis,
                        std::string_view name) {
  if (shape.rank() > 1)
    return invalid_argument(str_cat("Input ", name, " tensor must have dimension 0 or 1. Received ",
                                    shape.rank(), "."));
  if (axis == -1 && !shape.is_scalar())
    return invalid_argument(str_cat("input_", name, " must be a scalar if axis is unspecified"));
  if (axis != -1 && shape.is_scalar())
    return invalid_argument(
        str_cat("Shape must be rank 1 for input_", name, "_tensor when the axis is specified"));
  if (axis != -1 && shape[0] != p.count)
    return invalid_argument(
        str_cat(name, " has incorrect size, expected ", p.count, " was ", shape[0]));
  return {};
}

Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const auto& a = c.prepared<Attrs>();
  const int rank = x.shape().rank();
  const bool is_v3 = c.num_inputs() > 3; // has no scalars, whatever the axis
  if (is_v3 && (rank == 0 || a.axis < -1 || a.axis >= rank))
    return invalid_argument(str_cat("Axis requested is larger than input dimensions. Axis: ",
                                    a.axis, " Input Dimensions: ", rank));
  TROUPE_ASSIGN(const Parts p, parts_of(x.shape(), a.axis));
  std::int64_t bits = a.bits;
  if (is_v3) {
    if (const int dims = c.input(3).shape().rank(); dims != 0)
      return invalid_argument(str_cat(
          "Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: ", dims));
    bits = c.input(3).value<std::int32_t>();
    TROUPE_TRY(check_bits(bits, a.is_signed, "`signed_input_`"));
  }
  const bool range_fed = a.range_given && c.num_inputs() > 1;
  if (range_fed) {
    TROUPE_TRY(check_range(c.input(1), p, a, "input_min", is_v3));
    TROUPE_TRY(check_range(c.input(2), p, a, "input_max", is_v3));
  }
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  return dispatch(Types<float, double>{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = out.mutable_data<T>().data();
    for (std::int64_t i = 0; i < p.count && out.num_elements() > 0; ++i) {
      T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
      if (a.range_given && !range_fed) {
        least = static_cast<T>(a.least);
        most = static_cast<T>(a.most);
      } else if (range_fed) {
        least = c.input(1).data<T>()[static_cast<std::size_t>(i)];
        most = c.input(2).data<T>()[static_cast<std::size_t>(i)];
        const bool any_order = is_v3 && a.axis != -1; // as TensorFlow has it
        if (!(least <= most) && !any_order)
          return invalid_argument(
              str_cat("Invalid range: input_min ", least, " > input_max ", most));
      } else {
        for_each_stretch(p, i, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t at = begin; at < end; ++at) {
            least = std::min(least, from[at]);
            most = std::max(most, from[at]);
          }
        });
      }
      c.stop_if_cancelled();
      const Steps<T> steps(a, bits, least, most);
      for_each_stretch(p, i, [&](std::int64_t first, std::int64_t last) {
        c.parallel_for(last - first, 3, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t at = first + begin; at < first + end; ++at)
            to[at] = steps.of(a, from[at]);
        });
      });
    }
    return {};
  });
}

Status compute_grad(KernelContext& c) {
  const Tensor &grad = c.input(0), &x = c.input(1);
  TROUPE_ASSIGN(Attrs a, [&]() -> Result<Attrs> {
    Attrs out;
    TROUPE_ASSIGN(out.axis, c.attr<std::int64_t>("axis"));
    return out;
  }());
  if (a.axis >= 0 && a.axis >= x.shape().rank())
    return invalid_argument(str_cat("Axis should be -1 or 0 or a positive value less than ",
                                    x.shape().rank(), "but given axis value was ", a.axis));
  TROUPE_ASSIGN(const Parts p, parts_of(x.shape(), a.axis));
  if (grad.shape() != x.shape())
    return invalid_argument("gradient and input must be the same size");
  TROUPE_TRY(check_grad_range(c.input(2).shape(), p, a.axis, "min"));
  TROUPE_TRY(check_grad_range(c.input(3).shape(), p, a.axis, "max"));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, x.shape()));
  for (int i = 0; i < 2; ++i) {
    TROUPE_ASSIGN(Tensor zeros, c.allocate_output(i + 1, c.input(i + 2).shape()));
    std::fill_n(static_cast<std::byte*>(zeros.mutable_raw()), zeros.byte_size(), std::byte{0});
  }
  return dispatch(Types<float, double>{}, x.dtype(), [&]<class T>() -> Status {
    for (std::int64_t i = 0; i < p.count; ++i) {
      const T least = c.input(2).data<T>()[static_cast<std::size_t>(i)];
      const T most = c.input(3).data<T>()[static_cast<std::size_t>(i)];
      for_each_stretch(p, i, [&](std::int64_t begin, std::int64_t end) {
        for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
          const T value = x.data<T>()[at];
          out.mutable_data<T>()[at] =
              grad.data<T>()[at] * (value >= least && value <= most ? T(1) : T(0));
        }
      });
    }
    return {};
  });
}

/// Ranges are scalars, or have as many elements as dimension `axis` of input `of`.
Status check_ranges(ShapeContext& c, int of, int at) {
  TROUPE_ASSIGN(const std::int64_t axis, c.attr<std::int64_t>("axis"));
  if (axis < -1)
    return invalid_argument(str_cat("axis should be at least -1, got ", axis));
  std::int64_t size = shape_rules::unknown_dim;
  if (axis >= 0) {
    if (axis >= Shape::max_rank)
      return invalid_argument(str_cat("axis is too large: ", axis));
    TROUPE_TRY(c.require_rank_at_least(of, static_cast<int>(axis) + 1));
    if (c.input(of).has_rank())
      size = c.input(of).dims()[static_cast<std::size_t>(axis)];
  }
  for (int i = at; i < at + 2; ++i) {
    TROUPE_ASSIGN(const auto dims, shape_rules::dims_of_rank(c, i, axis == -1 ? 0 : 1));
    if (axis >= 0) {
      TROUPE_ASSIGN(size, shape_rules::merge_dims(size, dims[0]));
    }
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(check_ranges(c, 0, 1));
  if (c.num_inputs() > 3)
    TROUPE_TRY(c.require_rank(3, 0));
  return c.output_like(0, 0);
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape out, shape_rules::merge_shapes(c.input(0), c.input(1)));
  TROUPE_TRY(check_ranges(c, 1, 2));
  TROUPE_TRY(c.set_output(0, std::move(out)));
  TROUPE_TRY(c.output_like(1, 2));
  return c.output_like(2, 3);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.expensive = true;
  KernelOptions forward = options;
  forward.prepare = prepare;
  constexpr auto floats = "T: {bfloat16, half, float, double}";
  constexpr auto clients = "clients build its gradient";
  for (const bool fourth : {false, true})
    library.op(fourth ? "QuantizeAndDequantizeV4" : "QuantizeAndDequantizeV2")
        .input("input: T; input_min: T; input_max: T")
        .output("output: T")
        .attr("signed_input: bool = true; num_bits: int = 8; range_given: bool = false")
        .attr(floats)
        .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = "
              "false; axis: int = -1")
        .shape_fn(infer)
        .not_differentiable(clients)
        .cpu_kernel(compute, forward)
        .doc(fourth ? "The same; its gradient is that within the range."
                    : "Numbers rounded to what integers of some bits tell apart within a range.");
  library.op("QuantizeAndDequantizeV3")
      .input("input: T; input_min: T; input_max: T; num_bits: int32")
      .output("output: T")
      .attr("signed_input: bool = true; range_given: bool = true")
      .attr(floats)
      .attr("narrow_range: bool = false; axis: int = -1")
      .shape_fn(infer)
      .not_differentiable(clients)
      .cpu_kernel(compute, forward)
      .doc("The same; how many bits is an input.");
  library.op("QuantizeAndDequantize")
      .input("input: T")
      .output("output: T")
      .attr("signed_input: bool = true; num_bits: int = 8; range_given: bool = false")
      .attr("input_min: float = 0; input_max: float = 0")
      .attr(floats)
      .shape_fn(shape_unchanged)
      .not_differentiable(clients)
      .cpu_kernel(compute, forward)
      .doc("The same; the range is an attribute.");
  library.op("QuantizeAndDequantizeV4Grad")
      .input("gradients: T; input: T; input_min: T; input_max: T")
      .output("input_backprop: T; input_min_backprop: T; input_max_backprop: T")
      .attr(floats)
      .attr("axis: int = -1")
      .shape_fn(infer_grad)
      .not_differentiable("it is a gradient")
      .cpu_kernel(compute_grad, options)
      .doc("The gradient of QuantizeAndDequantizeV4; those of the range are 0.");
}

} // namespace troupe::nn_quantize_and_dequantize
