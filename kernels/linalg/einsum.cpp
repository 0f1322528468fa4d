// Einsum: products of one or two tensors, summed over the labels that the result does not have.
#include <algorithm>
#include <complex>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/linalg/internal/product.hpp"

namespace troupe::linalg_einsum {
namespace {

using Dims = std::vector<std::int64_t>;
/// A label is its character; the dimensions of an ellipsis are -1, -2, … from the right.
using Labels = std::vector<int>;
constexpr int ellipsis = 0; // before its rank is known

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Result<Labels> parse_labels(std::string_view text) {
  Labels out;
  bool seen = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      if (seen)
        return invalid_argument(str_cat("More than one ellipsis in subscript: ", text));
      seen = true;
      out.push_back(ellipsis);
      i += 2;
    } else if (text[i] != ' ') {
      out.push_back(static_cast<unsigned char>(text[i]) + 1);
    }
  }
  return out;
}

Result<Equation> parse(std::string_view text, std::size_t inputs) {
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos || text.find("->", arrow + 2) != std::string_view::npos)
    return invalid_argument(str_cat("Expecting exactly one '->' in einsum equation: ", text));
  Equation out;
  for (std::string_view part : str_split(text.substr(0, arrow), ',')) {
    TROUPE_ASSIGN(Labels labels, parse_labels(part));
    out.inputs.push_back(std::move(labels));
  }
  if (out.inputs.empty())
    out.inputs.emplace_back();
  if (out.inputs.size() > 2)
    return invalid_argument(str_cat("Expecting 1 or 2 input subscripts in equation '", text,
                                    "' but got: ", out.inputs.size()));
  if (out.inputs.size() != inputs)
    return invalid_argument(str_cat("Expected ", out.inputs.size(), " inputs but got: ", inputs));
  TROUPE_ASSIGN(out.output, parse_labels(text.substr(arrow + 2)));
  return out;
}

/// Puts `count` labels in the place of an ellipsis.
void expand(Labels& labels, int count) {
  const auto at = std::ranges::find(labels, ellipsis);
  if (at == labels.end())
    return;
  Labels dims;
  for (int k = count; k > 0; --k)
    dims.push_back(-k);
  const auto next = labels.erase(at);
  labels.insert(next, dims.begin(), dims.end());
}

using Extents = std::map<int, std::int64_t>;

/// Expands the ellipses for inputs of these shapes and finds each label's extent, -1 where not
/// known.
Status resolve(Equation& equation, const std::vector<Dims>& shapes, Extents& extents) {
  int longest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Labels& labels = equation.inputs[i];
    const auto rank = static_cast<int>(shapes[i].size());
    const auto given = static_cast<int>(labels.size());
    const bool has = std::ranges::find(labels, ellipsis) != labels.end();
    if (has ? rank < given - 1 : rank != given)
      return invalid_argument(str_cat("Expected input ", i, " to have rank ",
                                      has ? "at least " : "", has ? given - 1 : given,
                                      " but got: ", rank));
    const int inside = has ? rank - given + 1 : 0;
    longest = std::max(longest, inside);
    expand(labels, inside);
    for (int k = 0; k < rank; ++k) {
      const std::int64_t extent = shapes[i][static_cast<std::size_t>(k)];
      const int label = labels[static_cast<std::size_t>(k)];
      auto [it, is_new] = extents.emplace(label, extent);
      if (is_new || it->second == extent)
        continue;
      // What is broadcast with 1 may be any number, known or not.
      if (label < 0 && (it->second == 1 || extent == 1) && (it->second < 0 || extent < 0)) {
        it->second = -1;
        continue;
      }
      if (extent < 0)
        continue;
      if (it->second < 0 || (label < 0 && it->second == 1))
        it->second = extent;
      else if (label < 0 && extent != 1)
        return invalid_argument(str_cat("Invalid broadcasting dimensions: [",
                                        str_join(shapes[0], ","), "] vs. [",
                                        str_join(shapes[i], ","), "]"));
      else if (label > 0)
        return invalid_argument(str_cat("Expected dimension ", it->second, " at axis ", k,
                                        " of the input shaped [", str_join(shapes[i], ","),
                                        "] but got dimension ", extent));
    }
  }
  if (longest > 0 && std::ranges::find(equation.output, ellipsis) == equation.output.end())
    return invalid_argument(str_cat("Output contains ", longest,
                                    " broadcasting dimension(s) but no ellipsis (...) was found "
                                    "in the output subscripts."));
  expand(equation.output, longest);
  for (int label : equation.output)
    if (!extents.contains(label))
      return invalid_argument(str_cat("Einsum output subscripts contain the label '",
                                      std::string(1, static_cast<char>(label - 1)),
                                      "' that no input has"));
  return {};
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(const auto text, c.attr<std::string>("equation"));
  TROUPE_ASSIGN(Equation equation, parse(text, static_cast<std::size_t>(c.num_inputs())));
  std::vector<Dims> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).has_rank())
      return {};
    shapes.push_back(c.input(i).dims());
  }
  Extents extents;
  TROUPE_TRY(resolve(equation, shapes, extents));
  Dims dims;
  for (int label : equation.output)
    dims.push_back(extents.at(label));
  return c.set_output(0, PartialShape(std::move(dims)));
}

bool has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

std::int64_t size_of(const Labels& labels, const Extents& extents) {
  std::int64_t out = 1;
  for (int label : labels)
    out *= extents.at(label);
  return out;
}

/// The tensor's elements in the order of `wanted`: repeated labels take the diagonal, ellipsis
/// dimensions of 1 are repeated.
Result<Tensor> arranged(KernelContext& c, const Tensor& x, const Labels& labels,
                        const Labels& wanted, const Extents& extents) {
  Dims dims, strides;
  for (int label : wanted) {
    std::int64_t stride = 1, sum = 0;
    for (std::size_t k = labels.size(); k-- > 0;) {
      const std::int64_t extent = x.shape()[static_cast<int>(k)];
      if (labels[k] == label && extent != 1)
        sum += stride;
      stride *= extent;
    }
    dims.push_back(extents.at(label));
    strides.push_back(sum);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(x.dtype(), shape));
  if (shape.num_elements() == 0)
    return out;
  arith::StridedPlan plan;
  if (!arith::make_strided_plan(dims, strides, 0, plan))
    return unimplemented(
        str_cat("Einsum of a tensor of shape ", x.shape(), ": too many dimensions"));
  const int size = static_cast<int>(dtype_size(x.dtype()));
  void* to = out.mutable_raw();
  c.parallel_for(plan.size, 0.5, [&](std::int64_t begin, std::int64_t end) {
    arith::copy_from_strided(size, plan, x.raw(), to, begin, end);
  });
  return out;
}

using Computed = Types<float, double, std::int32_t, std::int64_t, std::complex<double>>;

/// Rows of `count` elements, each as its sum.
Result<Tensor> summed(KernelContext& c, const Tensor& x, std::int64_t rows, std::int64_t count) {
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(x.dtype(), Shape{rows}));
  TROUPE_TRY(dispatch(Computed{}, x.dtype(), [&]<class T>() -> Status {
    const T* from = x.data<T>().data();
    T* to = out.mutable_data<T>().data();
    c.parallel_for(rows, static_cast<double>(count), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        T sum{};
        for (std::int64_t k = 0; k < count; ++k)
          if constexpr (std::is_integral_v<T>)
            sum = static_cast<T>(static_cast<std::make_unsigned_t<T>>(sum) +
                                 static_cast<std::make_unsigned_t<T>>(from[r * count + k]));
          else
            sum += from[r * count + k];
        to[r] = sum;
      }
    });
    return {};
  }));
  return out;
}

/// Each label once, in the order of its first coming.
Labels distinct(const Labels& labels) {
  Labels out;
  for (int label : labels)
    if (!has(out, label))
      out.push_back(label);
  return out;
}

/// An operand in the order of `kept`; its other labels are summed over.
Result<Tensor> operand(KernelContext& c, const Tensor& x, const Labels& labels, const Labels& kept,
                       const Extents& extents) {
  Labels order = kept, gone;
  for (int label : distinct(labels))
    if (!has(kept, label))
      gone.push_back(label);
  order.insert(order.end(), gone.begin(), gone.end());
  TROUPE_ASSIGN(Tensor out, arranged(c, x, labels, order, extents));
  if (gone.empty())
    return out;
  return summed(c, out, size_of(kept, extents), size_of(gone, extents));
}

/// A tensor of distinct `labels` as the result: in its order, on the diagonal of labels that
/// repeat.
Status write_result(KernelContext& c, const Tensor& x, const Labels& labels, const Labels& output,
                    const Extents& extents) {
  Dims dims, strides(labels.size(), 0);
  for (int label : output)
    dims.push_back(extents.at(label));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (shape.num_elements() == 0)
    return {};
  std::memset(out.mutable_raw(), 0,
              static_cast<std::size_t>(shape.num_elements()) * dtype_size(out.dtype()));
  std::int64_t stride = 1;
  for (std::size_t k = output.size(); k-- > 0;) {
    const auto at = std::ranges::find(labels, output[k]) - labels.begin();
    strides[static_cast<std::size_t>(at)] += stride;
    stride *= dims[k];
  }
  Dims from;
  for (int label : labels)
    from.push_back(extents.at(label));
  arith::StridedPlan plan;
  if (!arith::make_strided_plan(from, strides, 0, plan))
    return unimplemented(str_cat("Einsum to a tensor of shape ", shape, ": too many dimensions"));
  const int size = static_cast<int>(dtype_size(out.dtype()));
  void* to = out.mutable_raw();
  c.parallel_for(plan.size, 0.5, [&](std::int64_t begin, std::int64_t end) {
    arith::copy_to_strided(size, plan, x.raw(), to, begin, end);
  });
  return {};
}

Status compute_one(KernelContext& c, const Equation& equation, const Extents& extents) {
  const Labels kept = distinct(equation.output);
  TROUPE_ASSIGN(const Tensor x, operand(c, c.input(0), equation.inputs[0], kept, extents));
  return write_result(c, x, kept, equation.output, extents);
}

Status compute_two(KernelContext& c, const Equation& equation, const Extents& extents) {
  const Labels &a = equation.inputs[0], &b = equation.inputs[1];
  Labels batch, contracted, left, right;
  for (const auto& [label, extent] : extents) {
    const bool wanted = has(equation.output, label);
    if (has(a, label) && has(b, label))
      (wanted ? batch : contracted).push_back(label);
    else if (wanted)
      (has(a, label) ? left : right).push_back(label);
  }
  Labels x_order = batch, y_order = batch, out_order = batch;
  x_order.insert(x_order.end(), left.begin(), left.end());
  x_order.insert(x_order.end(), contracted.begin(), contracted.end());
  y_order.insert(y_order.end(), contracted.begin(), contracted.end());
  y_order.insert(y_order.end(), right.begin(), right.end());
  out_order.insert(out_order.end(), left.begin(), left.end());
  out_order.insert(out_order.end(), right.begin(), right.end());
  TROUPE_ASSIGN(const Tensor x, operand(c, c.input(0), a, x_order, extents));
  TROUPE_ASSIGN(const Tensor y, operand(c, c.input(1), b, y_order, extents));
  const arith::GemmShape shape{
      .m = size_of(left, extents), .n = size_of(right, extents), .k = size_of(contracted, extents)};
  const std::int64_t batches = size_of(batch, extents);
  TROUPE_ASSIGN(const Shape all, Shape::make(Dims{batches, shape.m, shape.n}));
  TROUPE_ASSIGN(Tensor z, c.allocate_temp(x.dtype(), all));
  TROUPE_ASSIGN(const auto type, arith::gemm_type(x.dtype()));
  if (all.num_elements() > 0)
    linalg::products(c, type, shape, x.raw(), nullptr, y.raw(), nullptr, z.mutable_raw(), batches);
  return write_result(c, z, out_order, equation.output, extents);
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const auto text, c.attr<std::string>("equation"));
  TROUPE_ASSIGN(Equation equation, parse(text, static_cast<std::size_t>(c.num_inputs())));
  std::vector<Dims> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const auto dims = c.input(i).shape().dims();
    shapes.emplace_back(dims.begin(), dims.end());
  }
  Extents extents;
  TROUPE_TRY(resolve(equation, shapes, extents));
  return c.num_inputs() == 1 ? compute_one(c, equation, extents)
                             : compute_two(c, equation, extents);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {
      {"T", {DType::float32, DType::float64, DType::int32, DType::int64, DType::complex128}}};
  options.expensive = true;
  KernelOptions wide = options;
  wide.types = {{"T", {DType::float16, DType::bfloat16, DType::complex64}}};
  library.op("Einsum")
      .input("inputs: N * T")
      .output("output: T")
      .attr("equation: string; N: int >= 1; T: type")
      .shape_fn(infer_shape)
      .not_differentiable("its gradient is in no op of the library; clients bring their own")
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, wide)
      .doc("Products of tensors by labels of their dimensions, summed over labels that the result "
           "does not have.");
  options.types = {{"T", {DType::float32}}};
  wide.types = {{"T", {DType::bfloat16, DType::complex64}}};
  library.op("XlaEinsum")
      .input("a: T; b: T")
      .output("product: T")
      .attr("equation: string; T: {complex64, bfloat16, float}")
      .shape_fn(infer_shape)
      .not_differentiable("its gradient is in no op of the library; clients bring their own")
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, wide)
      .doc("Einsum of two tensors, as graphs for TensorFlow's XLA have it.");
}

} // namespace troupe::linalg_einsum
