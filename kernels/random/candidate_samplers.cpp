// UniformCandidateSampler, LogUniform…, LearnedUnigram…, ThreadUnsafeUnigram…, FixedUnigram… and
// AllCandidateSampler draw the classes that sampled losses compare true ones with.
// ComputeAccidentalHits finds drawn classes that are true.
#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/random/internal/candidates.hpp"
#include "kernels/random/internal/generator.hpp"

namespace troupe::random_candidate_samplers {
namespace {

using random::ClassSampler;
using Maker = Result<std::unique_ptr<ClassSampler>> (*)(KernelContext&);

/// What a node keeps in its session.
struct Candidates {
  explicit Candidates(const arith::Philox& start) : generator(start) {}
  random::Generator generator;
  std::mutex lock; ///< of the sampler, which learns
  std::unique_ptr<ClassSampler> sampler;
};

/// How many of a batch of draws are expected to be a class of probability p.
float expected_count(float p, std::int64_t batch, std::int64_t tries) {
  if (tries == batch)
    return p * static_cast<float>(batch);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

/// Fills `to`, and says how many draws that took.
Result<std::int64_t> draw(KernelContext& c, const ClassSampler& sampler, random::Words words,
                          bool unique, std::span<std::int64_t> to) {
  const auto look = [&](std::int64_t tries) {
    if (tries % 4096 == 0)
      c.stop_if_cancelled();
  };
  std::int64_t tries = 0;
  if (!unique) {
    for (std::int64_t& value : to) {
      value = sampler.sample(words);
      look(++tries);
    }
    return tries;
  }
  std::unordered_set<std::int64_t> used;
  std::size_t picked = 0;
  while (picked < to.size()) {
    look(++tries);
    if (tries == INT32_MAX)
      return internal(str_cat("2^31 - 1 draws gave only ", picked, " different classes"));
    if (const std::int64_t value = sampler.sample(words); used.insert(value).second)
      to[picked++] = value;
  }
  return tries;
}

Status check_true_classes(KernelContext& c, std::int64_t range) {
  for (std::int64_t value : c.input(0).data<std::int64_t>())
    if (value < 0 || value >= range)
      return invalid_argument(
          str_cat("`true_candidate` out of range [0, ", range, "), received ", value));
  return {};
}

Status check(KernelContext& c, const ClassSampler& sampler, std::int64_t sampled, bool unique) {
  if (unique && sampled > sampler.range())
    return invalid_argument("Sampler's range is too small.");
  if (unique && sampled > sampler.possible())
    return invalid_argument(str_cat("only ", sampler.possible(),
                                    " classes have a weight, less than the ", sampled,
                                    " different ones to draw"));
  return check_true_classes(c, sampler.range());
}

struct Outputs {
  Tensor sampled, true_expected, sampled_expected;
};

Result<Outputs> allocate(KernelContext& c) {
  const Shape& given = c.input(0).shape();
  TROUPE_ASSIGN(const auto num_true, c.attr<std::int64_t>("num_true"));
  TROUPE_ASSIGN(const auto num_sampled, c.attr<std::int64_t>("num_sampled"));
  if (given.rank() != 2)
    return invalid_argument("true_classes must be a matrix");
  if (given[1] != num_true)
    return invalid_argument(str_cat("true_classes must have num_true columns, expected: ", given[1],
                                    " was: ", num_true));
  Outputs out;
  TROUPE_ASSIGN(out.sampled, c.allocate_output(0, Shape{num_sampled}));
  TROUPE_ASSIGN(out.true_expected, c.allocate_output(1, given));
  TROUPE_ASSIGN(out.sampled_expected, c.allocate_output(2, Shape{num_sampled}));
  return out;
}

Status run(KernelContext& c, Candidates& state, Maker make) {
  TROUPE_ASSIGN(Outputs out, allocate(c));
  const auto sampled = out.sampled.mutable_data<std::int64_t>();
  const auto batch = static_cast<std::int64_t>(sampled.size());
  const bool unique = c.attrs().get_or("unique", false);
  const auto true_classes = c.input(0).data<std::int64_t>();
  std::scoped_lock guard(state.lock);
  if (!state.sampler) {
    TROUPE_ASSIGN(state.sampler, make(c));
  }
  ClassSampler& sampler = *state.sampler;
  TROUPE_TRY(check(c, sampler, batch, unique));
  const auto blocks = static_cast<std::uint64_t>(batch) * 2048 / 4;
  TROUPE_ASSIGN(const std::int64_t tries,
                draw(c, sampler, random::Words(state.generator.reserve(blocks)), unique, sampled));
  const auto expect = [&](std::int64_t value) {
    return expected_count(sampler.probability(value), batch, tries);
  };
  std::ranges::transform(sampled, out.sampled_expected.mutable_data<float>().begin(), expect);
  std::ranges::transform(true_classes, out.true_expected.mutable_data<float>().begin(), expect);
  sampler.learn(true_classes);
  return {};
}

template <Maker make>
Status compute(KernelContext& c) {
  const auto state = c.node_state<Candidates>(
      [&] { return std::make_shared<Candidates>(random::start_of_node(c)); });
  return run(c, *state, make);
}

template <class Sampler>
Result<std::unique_ptr<ClassSampler>> make_simple(KernelContext& c) {
  TROUPE_ASSIGN(const auto range, c.attr<std::int64_t>("range_max"));
  if (range >= INT32_MAX && std::is_same_v<Sampler, random::LearnedClasses>)
    return invalid_argument(str_cat("range_max must be below 2^31 - 1, not ", range));
  return std::unique_ptr<ClassSampler>(std::make_unique<Sampler>(range));
}

/// Every class once.
Status compute_all(KernelContext& c) {
  TROUPE_ASSIGN(Outputs out, allocate(c));
  TROUPE_TRY(check_true_classes(c, out.sampled.num_elements()));
  std::int64_t next = 0;
  for (std::int64_t& value : out.sampled.mutable_data<std::int64_t>())
    value = next++;
  std::ranges::fill(out.true_expected.mutable_data<float>(), 1.0F);
  std::ranges::fill(out.sampled_expected.mutable_data<float>(), 1.0F);
  return {};
}

// ---- weights of FixedUnigramCandidateSampler

/// The last fields of the lines of a file, which are weights.
Result<std::vector<float>> read_vocabulary(KernelContext& c, const std::string& path) {
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  TROUPE_ASSIGN(auto file, files->open(path));
  TROUPE_ASSIGN(Tensor held,
                c.allocate_temp(DType::uint8, Shape{static_cast<std::int64_t>(file->size())}));
  const auto bytes = held.mutable_data<std::uint8_t>();
  TROUPE_TRY(file->read(0, std::as_writable_bytes(bytes)));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<float> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t comma = line.rfind(',');
    const std::string_view field =
        str_trim(comma == std::string_view::npos ? line : line.substr(comma + 1));
    float weight = 0;
    const auto read = std::from_chars(field.data(), field.data() + field.size(), weight);
    if (read.ec != std::errc() || read.ptr != field.data() + field.size())
      return invalid_argument(str_cat("Wrong vocabulary format at line: ", line));
    out.push_back(weight);
  }
  return out;
}

Result<std::unique_ptr<ClassSampler>> make_fixed(KernelContext& c) {
  TROUPE_ASSIGN(const auto path, c.attr<std::string>("vocab_file"));
  TROUPE_ASSIGN(auto unigrams, c.attr<std::vector<float>>("unigrams"));
  TROUPE_ASSIGN(const auto range, c.attr<std::int64_t>("range_max"));
  TROUPE_ASSIGN(const float distortion, c.attr<float>("distortion"));
  TROUPE_ASSIGN(const auto reserved, c.attr<std::int64_t>("num_reserved_ids"));
  TROUPE_ASSIGN(const auto shards, c.attr<std::int64_t>("num_shards"));
  TROUPE_ASSIGN(const auto shard, c.attr<std::int64_t>("shard"));
  if (path.empty() && unigrams.empty())
    return invalid_argument("Must provide either vocab_file or unigrams.");
  if (!path.empty() && !unigrams.empty())
    return invalid_argument("Must only provide one of vocab_file and unigrams.");
  if (!path.empty()) {
    TROUPE_ASSIGN(unigrams, read_vocabulary(c, path));
  }
  // Those of this shard, of which there are as many as of any other, or one less.
  const std::int64_t of_shard =
      reserved > shard ? (reserved - 1 - shard) / std::max<std::int64_t>(shards, 1) + 1 : 0;
  if (reserved < 0 || of_shard > range || range >= INT32_MAX)
    return invalid_argument(
        str_cat(reserved, " reserved ids do not fit into the range of ", range));
  TROUPE_TRY(c.allocate_temp(DType::float32, Shape{of_shard}).status()); // as much as it may take
  std::vector<float> weights(static_cast<std::size_t>(of_shard), 0.0F);
  // Words are counted from the reserved ids of this shard on.
  auto id = static_cast<std::int64_t>(weights.size());
  double sum = 0;
  for (float unigram : unigrams) {
    if (id++ % shards != shard)
      continue;
    weights.push_back(std::pow(unigram, distortion));
    sum += static_cast<double>(weights.back());
    if (!(weights.back() >= 0) || std::isinf(weights.back()))
      return invalid_argument(str_cat("unigrams must be finite and not negative, not ", unigram));
  }
  if (static_cast<std::int64_t>(weights.size()) != range)
    return invalid_argument(str_cat("range is ", range, " must be equal to weights size  ",
                                    weights.size(), ", the reserved ids among them"));
  if (!(sum > 0))
    return invalid_argument("the weights of all classes are 0");
  return std::unique_ptr<ClassSampler>(
      std::make_unique<random::WeightedClasses>(std::move(weights)));
}

// ---- accidental hits

Status compute_hits(KernelContext& c) {
  const Shape& shape = c.input(0).shape();
  TROUPE_ASSIGN(const auto num_true, c.attr<std::int64_t>("num_true"));
  if (shape.rank() != 2 || shape[1] != num_true)
    return invalid_argument("true_candidates must be a batch_size * num_true matrix");
  if (c.input(1).shape().rank() != 1)
    return invalid_argument("sampled_candidates must be a vector, which is typically an output "
                            "from CandidateSampler");
  std::unordered_map<std::int64_t, std::int64_t> places;
  std::int64_t place = 0;
  for (std::int64_t sampled : c.input(1).data<std::int64_t>())
    places[sampled] = place++;
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> ids;
  const auto true_classes = c.input(0).data<std::int64_t>();
  for (std::size_t i = 0; i < true_classes.size(); ++i)
    if (const auto found = places.find(true_classes[i]); found != places.end()) {
      rows.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(i) / num_true));
      ids.push_back(found->second);
    }
  const std::vector<float> weights(rows.size(), -FLT_MAX);
  TROUPE_TRY(c.set_output(0, Tensor::vector<std::int32_t>(rows)));
  TROUPE_TRY(c.set_output(1, Tensor::vector<std::int64_t>(ids)));
  return c.set_output(2, Tensor::vector<float>(weights));
}

Status infer_hits(ShapeContext& c) {
  TROUPE_ASSIGN(const auto num_true, c.attr<std::int64_t>("num_true"));
  TROUPE_ASSIGN(const auto given, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(shape_rules::merge_dims(given[1], num_true).status());
  TROUPE_TRY(c.require_rank(1, 1));
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(c.set_output(i, {-1}));
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto num_true, c.attr<std::int64_t>("num_true"));
  TROUPE_ASSIGN(const auto num_sampled, c.attr<std::int64_t>("num_sampled"));
  TROUPE_ASSIGN(const auto given, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.set_output(0, {num_sampled}));
  TROUPE_TRY(c.set_output(1, {given[0], num_true}));
  return c.set_output(2, {num_sampled});
}

void add(OpLibrary& library, std::string_view name, const char* attrs, KernelFn fn,
         std::string_view doc) {
  KernelOptions options;
  options.expensive = true;
  library.op(name)
      .input("true_classes: int64")
      .output("sampled_candidates: int64; true_expected_count: float; "
              "sampled_expected_count: float")
      .attr("num_true: int >= 1; num_sampled: int >= 1; unique: bool")
      .attr(attrs)
      .attr("seed: int = 0; seed2: int = 0")
      .stateful()
      .roles(Role::random)
      .shape_fn(infer)
      .not_differentiable("it draws")
      .cpu_kernel(fn, options)
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto range = "range_max: int >= 1";
  add(library, "UniformCandidateSampler", range, compute<make_simple<random::UniformClasses>>,
      "Classes, each as likely as the others.");
  add(library, "LogUniformCandidateSampler", range, compute<make_simple<random::LogUniformClasses>>,
      "Classes, the first ones the likeliest.");
  for (const char* name : {"LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"})
    add(library, name, range, compute<make_simple<random::LearnedClasses>>,
        "Classes by how often they were true in earlier runs.");
  add(library, "FixedUnigramCandidateSampler",
      "range_max: int >= 1; vocab_file: string = ''; distortion: float = 1.0; num_reserved_ids: "
      "int = 0; num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []",
      compute<make_fixed>, "Classes by their weights, which a file or an attribute gives.");
  add(library, "AllCandidateSampler", "", compute_all, "Every class once.");
  library.op("ComputeAccidentalHits")
      .input("true_classes: int64; sampled_candidates: int64")
      .output("indices: int32; ids: int64; weights: float")
      .attr("num_true: int; seed: int = 0; seed2: int = 0")
      .shape_fn(infer_hits)
      .not_differentiable("places are no numbers to differentiate")
      .cpu_kernel(compute_hits)
      .doc("Where sampled classes are true ones, with weights that take them out of a softmax.");
}

} // namespace troupe::random_candidate_samplers
