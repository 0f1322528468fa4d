// NegTrain: one pass of word2vec's training over a batch, each example with its label and with
// classes drawn as negative examples (T. Mikolov et al., "Distributed representations of words and
// phrases", 2013).
#include <cmath>

#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/random/internal/candidates.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_neg_train {
namespace {

struct Settings {
  std::shared_ptr<const random::WeightedClasses> classes;
  std::int64_t vocabulary = 0, negatives = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Settings out;
  TROUPE_ASSIGN(const auto counts, c.attr<std::vector<std::int64_t>>("vocab_count"));
  TROUPE_ASSIGN(out.negatives, c.attr<std::int64_t>("num_negative_samples"));
  std::vector<float> weights;
  double sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || count > INT32_MAX)
      return invalid_argument(str_cat("vocab_count must be counts, but has ", count));
    weights.push_back(std::pow(static_cast<float>(count), 0.75F));
    sum += static_cast<double>(weights.back());
  }
  if (sum <= 0)
    return invalid_argument("vocab_count must have a class that was seen");
  if (out.negatives < 0)
    return invalid_argument(
        str_cat("num_negative_samples must not be negative, but is ", out.negatives));
  out.vocabulary = static_cast<std::int64_t>(counts.size());
  out.classes = std::make_shared<random::WeightedClasses>(std::move(weights));
  return prepared(std::move(out));
}

Status check_inputs(const KernelContext& c) {
  const Tensor &examples = c.input(2), &labels = c.input(3);
  if (examples.shape().rank() != 1)
    return invalid_argument("Must be a vector");
  if (examples.shape() != labels.shape())
    return invalid_argument("examples.shape == labels.shape");
  if (!c.input(4).shape().is_scalar())
    return invalid_argument("Must be a scalar");
  return {};
}

Status check_rows(const KernelContext& c, const Settings& s, const Tensor& in, const Tensor& out) {
  if (in.shape().rank() != 2)
    return invalid_argument("Must be a matrix");
  if (in.shape() != out.shape())
    return invalid_argument("w_in.shape == w_out.shape");
  const std::int64_t rows = in.shape()[0];
  if (rows != s.vocabulary)
    return invalid_argument(str_cat("vocab_size mismatches: ", rows, " vs. ", s.vocabulary));
  for (const int i : {2, 3})
    for (const std::int32_t row : c.input(i).data<std::int32_t>())
      if (row < 0 || row >= rows)
        return invalid_argument(str_cat(i == 2 ? "Example " : "Label ", row,
                                        " is not in the vocabulary of ", rows, " words"));
  return {};
}

float dot(std::span<const float> a, std::span<const float> b) {
  float out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    out += a[i] * b[i];
  return out;
}

/// A step of size `g` towards (or, below 0, away from) each other: `word` moves at once, what
/// `example` gains is added up.
void attract(std::span<const float> example, std::span<float> word, std::span<float> gain,
             float g) {
  for (std::size_t i = 0; i < example.size(); ++i) {
    gain[i] += word[i] * g;
    word[i] += example[i] * g;
  }
}

Status train(KernelContext& c, const Settings& s, Tensor& in, Tensor& out) {
  TROUPE_TRY(check_rows(c, s, in, out));
  const auto dims = static_cast<std::size_t>(in.shape()[1]);
  const auto row = [dims](Tensor& rows, std::int64_t i) {
    return rows.mutable_data<float>().subspan(static_cast<std::size_t>(i) * dims, dims);
  };
  const auto examples = c.input(2).data<std::int32_t>(), labels = c.input(3).data<std::int32_t>();
  const float rate = c.input(4).value<float>();
  const auto generator = c.node_state<random::Generator>([] {
    return std::make_shared<random::Generator>(arith::Philox::from_seeds(random_id(), random_id()));
  });
  // Two words for each class drawn, and some more where numbers are drawn again.
  random::Words words(
      generator->reserve(examples.size() * static_cast<std::uint64_t>(s.negatives) * 2));
  std::vector<float> gain(dims);
  for (std::size_t b = 0; b < examples.size(); ++b) {
    const auto example = row(in, examples[b]);
    std::fill(gain.begin(), gain.end(), 0.0F);
    const auto label = row(out, labels[b]);
    attract(example, label, gain, rate / (std::exp(dot(example, label)) + 1.0F));
    for (std::int64_t n = 0; n < s.negatives; ++n) {
      if ((n & 0xffff) == 0xffff)
        c.stop_if_cancelled();
      const std::int64_t drawn = s.classes->sample(words);
      if (drawn == labels[b])
        continue;
      const auto word = row(out, drawn);
      attract(example, word, gain, -rate / (std::exp(-dot(example, word)) + 1.0F));
    }
    for (std::size_t i = 0; i < dims; ++i)
      example[i] += gain[i];
  }
  return {};
}

Status compute(KernelContext& c) {
  const auto& settings = c.prepared<Settings>();
  TROUPE_TRY(check_inputs(c));
  Variable &in = *c.input_ref(0), &out = *c.input_ref(1);
  if (&in == &out)
    return in.update([&](Tensor& value) { return train(c, settings, value, value); });
  // In the order of their addresses, so that two nodes cannot wait for each other.
  const bool in_first = std::less<>()(&in, &out);
  return (in_first ? in : out).update([&](Tensor& first) {
    return (in_first ? out : in).update([&](Tensor& second) {
      return train(c, settings, in_first ? first : second, in_first ? second : first);
    });
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("NegTrain")
      .input("w_in: Ref(float); w_out: Ref(float); examples: int32; labels: int32; lr: float")
      .attr("vocab_count: list(int); num_negative_samples: int")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it changes variables in place")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc(
          "Trains two tables of word vectors on a batch, with negative examples drawn by how often "
          "words come.");
}

} // namespace troupe::random_neg_train
