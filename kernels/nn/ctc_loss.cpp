// CTCLoss (Graves et al., "Connectionist temporal classification", 2006): minus the logarithm of
// the probability that a sequence of activations stands for a sequence of labels, and its gradient.
// The last class is the blank.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/ctc.hpp"

namespace troupe::nn_ctc_loss {
namespace {

using Labels = std::vector<std::int32_t>;

struct Attrs {
  bool collapse = false, merge = true, ignore_longer = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.collapse, c.attr<bool>("preprocess_collapse_repeated"));
  TROUPE_ASSIGN(out.merge, c.attr<bool>("ctc_merge_repeated"));
  TROUPE_ASSIGN(out.ignore_longer, c.attr<bool>("ignore_longer_outputs_than_inputs"));
  return prepared(out);
}

/// The labels of each sequence, from the sparse matrix that inputs 1 and 2 are.
Result<std::vector<Labels>> read_labels(KernelContext& c, std::int64_t batch) {
  const auto indices = c.input(1).data<std::int64_t>();
  const auto values = c.input(2).data<std::int32_t>();
  const auto width = static_cast<std::size_t>(c.input(1).shape()[1]);
  if (width != 2)
    return invalid_argument("Order length must be SparseTensor rank.");
  std::int64_t columns = -1;
  for (std::size_t i = 0; i < values.size(); ++i)
    columns = std::max(columns, indices[i * width + 1]);
  std::vector<Labels> out(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t row = indices[i * width], column = indices[i * width + 1];
    const auto is = [&](std::string_view what) {
      return invalid_argument(str_cat("label SparseTensor is not valid: indices[", i, "] = [", row,
                                      ",", column, "] is ", what));
    };
    if (row < 0 || row >= batch || column < 0)
      return is(str_cat("out of bounds: need 0 <= index < [", batch, ",",
                        static_cast<std::uint64_t>(columns) + 1, "]"));
    if (i > 0) {
      const std::int64_t row_before = indices[(i - 1) * width],
                         column_before = indices[(i - 1) * width + 1];
      if (row == row_before && column == column_before)
        return is("repeated");
      if (row < row_before || (row == row_before && column < column_before))
        return is("out of order. Many sparse ops require sorted indices.\n    Use "
                  "`tf.sparse.reorder` to create a correctly ordered copy.\n\n");
    }
    out[static_cast<std::size_t>(row)].push_back(values[i]);
  }
  return out;
}

/// The labels of what with_blanks has made.
std::string seen_in(Labels labels, std::int32_t blank) {
  std::erase(labels, blank);
  return str_join(labels, ",");
}

/// The labels without repetitions and blanks, with a blank before each and at the end.
Result<Labels> with_blanks(const Attrs& attrs, const Labels& labels, std::int64_t b,
                           std::int64_t classes, std::int64_t length) {
  if (labels.empty())
    return invalid_argument(str_cat("Labels length is zero in batch ", b));
  const auto blank = static_cast<std::int32_t>(classes - 1);
  Labels out;
  bool is_finished = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0 && attrs.collapse && labels[i] == labels[i - 1])
      continue;
    if (labels[i] >= blank) {
      is_finished = true;
      continue;
    }
    if (is_finished)
      return invalid_argument(str_cat("Saw a non-null label (index >= num_classes - 1) following a "
                                      "null label, batch: ",
                                      b, " num_classes: ", classes,
                                      " labels: ", str_join(labels, ","),
                                      " labels seen so far: ", seen_in(out, blank)));
    if (labels[i] < 0)
      return invalid_argument(str_cat("All labels must be nonnegative integers, batch: ", b,
                                      " labels: ", str_join(labels, ",")));
    out.push_back(blank);
    out.push_back(labels[i]);
  }
  if (!attrs.ignore_longer && static_cast<std::int64_t>(labels.size()) > length)
    return invalid_argument(str_cat("Not enough time for target transition sequence (required: ",
                                    labels.size(), ", available: ", length, ")", b,
                                    "You can turn this error into a warning by using the flag "
                                    "ignore_longer_outputs_than_inputs"));
  out.push_back(blank);
  return out;
}

/// One sequence: forward variables of all times, backward ones of one time after the other, so that
/// only the former need memory.
template <class T>
class Sequence {
public:
  Sequence(const Labels& labels, std::int64_t length, std::int64_t classes, bool merge, T* y,
           T* alpha)
      : labels_(labels), size_(static_cast<std::int64_t>(labels.size())), length_(length),
        classes_(classes), merge_(merge), y_(y), alpha_(alpha) {}

  /// Softmax of the activations at time t.
  void set_activations(std::int64_t t, const T* x) {
    T* to = y_ + t * classes_;
    const T most = *std::max_element(x, x + classes_);
    T sum = 0;
    for (std::int64_t i = 0; i < classes_; ++i)
      sum += to[i] = std::exp(x[i] - most);
    for (std::int64_t i = 0; i < classes_; ++i)
      to[i] /= sum;
  }

  void step_forward(std::int64_t t) {
    T* now = alpha_ + t * size_;
    std::fill_n(now, size_, ctc::nothing<T>);
    if (t == 0) {
      for (std::int64_t u = 0; u < std::min<std::int64_t>(size_, 2); ++u)
        now[u] = log_y(0, u);
      return;
    }
    const T* before = now - size_;
    for (std::int64_t u = first(t); u < end(t); ++u) {
      T sum = merge_ || is_blank(u) ? before[u] : ctc::nothing<T>;
      if (u > 0)
        sum = ctc::log_sum(sum, before[u - 1]);
      if (u > 1 && may_skip(u, u - 2))
        sum = ctc::log_sum(sum, before[u - 2]);
      now[u] = log_y(t, u) + sum;
    }
  }

  T log_probability() const {
    const T* last = alpha_ + (length_ - 1) * size_;
    T out = last[size_ - 1];
    return size_ > 1 ? ctc::log_sum(last[size_ - 2], out) : out;
  }

  /// The backward variables of time t, from those of t + 1.
  void step_backward(std::int64_t t, const std::vector<T>& after, std::vector<T>& beta) {
    std::ranges::fill(beta, ctc::nothing<T>);
    const auto at = [](auto& list, std::int64_t i) -> auto& {
      return list[static_cast<std::size_t>(i)];
    };
    if (t == length_ - 1) {
      for (std::int64_t u = std::max<std::int64_t>(size_ - 2, 0); u < size_; ++u)
        at(beta, u) = 0;
      return;
    }
    for (std::int64_t u = first(t); u < end(t); ++u) {
      T sum = ctc::nothing<T>;
      if (merge_ || is_blank(u))
        sum = ctc::log_sum(sum, at(after, u) + log_y(t + 1, u));
      if (u + 1 < size_)
        sum = ctc::log_sum(sum, at(after, u + 1) + log_y(t + 1, u + 1));
      if (u + 2 < size_ && may_skip(u, u + 2))
        sum = ctc::log_sum(sum, at(after, u + 2) + log_y(t + 1, u + 2));
      at(beta, u) = sum;
    }
  }

  /// Of the activations at time t.
  void gradient(std::int64_t t, const std::vector<T>& beta, T log_probability, std::vector<T>& sums,
                T* to) const {
    std::ranges::fill(sums, ctc::nothing<T>);
    for (std::int64_t u = 0; u < size_; ++u) {
      T& sum = sums[static_cast<std::size_t>(label(u))];
      sum = ctc::log_sum(sum, alpha_[t * size_ + u] + beta[static_cast<std::size_t>(u)]);
    }
    for (std::int64_t i = 0; i < classes_; ++i)
      to[i] = y_[t * classes_ + i] - static_cast<T>(std::exp(static_cast<float>(
                                         sums[static_cast<std::size_t>(i)] - log_probability)));
  }

private:
  std::int32_t label(std::int64_t u) const { return labels_[static_cast<std::size_t>(u)]; }
  bool is_blank(std::int64_t u) const { return label(u) == classes_ - 1; }
  bool may_skip(std::int64_t from, std::int64_t to) const {
    return !is_blank(from) && !(merge_ && label(from) == label(to));
  }
  T log_y(std::int64_t t, std::int64_t u) const { return std::log(y_[t * classes_ + label(u)]); }
  // Where there is neither too little time for what follows nor for what was before.
  std::int64_t first(std::int64_t t) const {
    return std::max<std::int64_t>(0, size_ - 2 * (length_ - t));
  }
  std::int64_t end(std::int64_t t) const { return std::min(size_, 2 * (t + 1)); }

  const Labels& labels_;
  std::int64_t size_, length_, classes_;
  bool merge_;
  T *y_, *alpha_;
};

Status check_inputs(KernelContext& c) {
  const Shape &x = c.input(0).shape(), &indices = c.input(1).shape(), &values = c.input(2).shape();
  const Shape& lengths = c.input(3).shape();
  if (x.rank() != 3)
    return invalid_argument("inputs is not a 3-Tensor");
  if (lengths.rank() != 1)
    return invalid_argument("sequence_length is not a vector");
  if (indices.rank() != 2)
    return invalid_argument("labels_indices is not a matrix");
  if (indices[1] <= 1)
    return invalid_argument(
        str_cat("labels_indices second dimension must be >= 1. Received ", indices[1]));
  if (values.rank() != 1)
    return invalid_argument("labels_values is not a vector");
  if (x[0] == 0)
    return invalid_argument("Max time or first dimension of input cannot be 0.");
  if (x[2] > INT32_MAX)
    return invalid_argument("num_classes cannot exceed max int");
  if (x[1] != lengths[0])
    return invalid_argument(str_cat("len(sequence_length) != batch_size.  len(sequence_length):  ",
                                    lengths[0], " batch_size: ", x[1]));
  if (indices[0] != values[0])
    return invalid_argument(str_cat("labels_indices and labels_values must contain the same number "
                                    "of rows, but saw shapes: ",
                                    indices, " vs. ", values));
  if (x[1] == 0)
    return invalid_argument("batch_size must not be 0");
  if (x[2] == 0)
    return invalid_argument("num_classes must not be 0");
  for (std::int64_t b = 0; b < x[1]; ++b) {
    const std::int32_t length = c.input(3).data<std::int32_t>()[static_cast<std::size_t>(b)];
    if (length > x[0])
      return invalid_argument(str_cat("sequence_length(", b, ") <= ", x[0]));
    if (length < 0)
      return invalid_argument(str_cat("seq_len(", b, ") < 0"));
  }
  return {};
}

template <class T>
Status run(KernelContext& c, std::int64_t b, const Labels& labels, std::int64_t length,
           Tensor& loss, Tensor& gradient) {
  const Shape& shape = c.input(0).shape();
  const std::int64_t batch = shape[1], classes = shape[2];
  const auto size = static_cast<std::int64_t>(labels.size());
  TROUPE_ASSIGN(const Shape y_shape, Shape::make(std::array{length, classes}));
  TROUPE_ASSIGN(const Shape alpha_shape, Shape::make(std::array{length, size}));
  TROUPE_ASSIGN(Tensor y, c.allocate_temp(gradient.dtype(), y_shape));
  TROUPE_ASSIGN(Tensor alpha, c.allocate_temp(gradient.dtype(), alpha_shape));
  Sequence<T> s(labels, length, classes, c.prepared<Attrs>().merge, y.mutable_data<T>().data(),
                alpha.mutable_data<T>().data());
  const T* x = c.input(0).data<T>().data();
  T* dx = gradient.mutable_data<T>().data();
  const double cost = 10.0 * static_cast<double>(classes) + 50.0 * static_cast<double>(size);
  c.serial_for(length, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      s.set_activations(t, x + (t * batch + b) * classes);
      s.step_forward(t);
    }
  });
  const T log_probability = s.log_probability();
  loss.mutable_data<T>()[static_cast<std::size_t>(b)] = -log_probability;
  const bool is_impossible = log_probability == ctc::nothing<T>;
  std::vector<T> beta(labels.size()), after(labels.size()), sums(static_cast<std::size_t>(classes));
  c.serial_for(length, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t t = length - 1 - i;
      T* to = dx + (t * batch + b) * classes;
      if (is_impossible) {
        std::copy_n(y.data<T>().data() + t * classes, classes, to);
        continue;
      }
      std::swap(beta, after);
      s.step_backward(t, after, beta);
      s.gradient(t, beta, log_probability, sums, to);
    }
  });
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  const Shape& shape = c.input(0).shape();
  const auto& attrs = c.prepared<Attrs>();
  const auto lengths = c.input(3).data<std::int32_t>();
  TROUPE_ASSIGN(const std::vector<Labels> labels, read_labels(c, shape[1]));
  TROUPE_ASSIGN(Tensor loss, c.allocate_output(0, c.input(3).shape()));
  TROUPE_ASSIGN(Tensor gradient, c.allocate_output(1, shape));
  std::vector<Labels> targets;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    TROUPE_ASSIGN(Labels target, with_blanks(attrs, labels[b], static_cast<std::int64_t>(b),
                                             shape[2], lengths[b]));
    targets.push_back(std::move(target));
  }
  return dispatch(Types<float, double>{}, gradient.dtype(), [&]<class T>() -> Status {
    std::ranges::fill(loss.mutable_data<T>(), T{});
    std::ranges::fill(gradient.mutable_data<T>(), T{});
    for (std::size_t b = 0; b < labels.size(); ++b) {
      const bool is_longer = static_cast<std::int64_t>(labels[b].size()) > lengths[b];
      if (lengths[b] == 0 || (attrs.ignore_longer && is_longer))
        continue;
      TROUPE_TRY(run<T>(c, static_cast<std::int64_t>(b), targets[b], lengths[b], loss, gradient));
    }
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(auto x, shape_rules::dims_of_rank(c, 0, 3));
  TROUPE_ASSIGN(const auto indices, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_ASSIGN(const auto values, shape_rules::dims_of_rank(c, 2, 1));
  TROUPE_ASSIGN(const auto lengths, shape_rules::dims_of_rank(c, 3, 1));
  TROUPE_TRY(shape_rules::merge_dims(indices[0], values[0]).status());
  TROUPE_ASSIGN(x[1], shape_rules::merge_dims(x[1], lengths[0]));
  TROUPE_TRY(c.set_output(0, {x[1]}));
  return c.set_output(1, PartialShape(x));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("CTCLoss")
      .input("inputs: T; labels_indices: int64; labels_values: int32; sequence_length: int32")
      .output("loss: T; gradient: T")
      .attr("preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
            "ignore_longer_outputs_than_inputs: bool = false; T: {float, double} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("its second output is the gradient; clients multiply with it")
      .cpu_kernel(compute, options)
      .doc("Minus the logarithm of the probability of each sequence of labels, and its gradient.");
}

} // namespace troupe::nn_ctc_loss
