// ParseExampleDataset, ParseExampleDatasetV2, ExperimentalParseExampleDataset: features of the
// tensorflow.Example messages of each element.
#include <map>

#include "kernels/data/internal/parallel_calls.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/list/internal/ragged.hpp"
#include "kernels/parsing/internal/example_parser.hpp"

namespace troupe::data_parse_example {

using namespace data;

namespace {

constexpr auto tensor_type = "tensorflow::Tensor"; // of a variant that holds one
constexpr std::string_view dtypes = "list({float, int64, string}) >= 0";

struct Features {
  parsing::ExampleSpec spec;
  std::vector<std::string> sparse, dense, ragged; ///< keys
  Tensors defaults;                               ///< of the dense ones
  std::map<std::string, std::size_t> components;  ///< in the order of the keys
};

/// Outputs in memory of an allocator; all on the caller's thread.
class Host final : public parsing::ExampleHost {
public:
  explicit Host(Allocator& memory) : memory_(memory) {}
  Result<Tensor> output(int i, DType dtype, const Shape& shape) override {
    const auto at = static_cast<std::size_t>(i);
    if (at >= outputs_.size())
      outputs_.resize(at + 1);
    TROUPE_ASSIGN(outputs_[at], Tensor::allocate(memory_, dtype, shape));
    return outputs_[at];
  }
  Result<Tensor> temporary(DType dtype, const Shape& shape) override {
    return Tensor::allocate(memory_, dtype, shape);
  }
  void for_ranges(std::int64_t count, double, KernelContext::LoopBody body) override {
    if (count > 0)
      body(0, count);
  }
  Tensor take(std::size_t i) { return std::move(outputs_[i]); }

private:
  Allocator& memory_;
  Tensors outputs_;
};

class ParseExampleDataset final : public UnaryDataset {
public:
  ParseExampleDataset(const KernelContext& c, DatasetRef input, Features features)
      : UnaryDataset(c, std::move(input)), features_(std::move(features)) {}
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Parsed>(this, pipeline);
  }

private:
  class Parsed final : public IteratorOver<ParseExampleDataset> {
  public:
    using IteratorOver::IteratorOver;
    Async<Next> next(ElementPull& pull) override {
      TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
      if (!element)
        co_return end_of_sequence();
      TROUPE_CO_TRY(co_await pull.breathe());
      TROUPE_CO_ASSIGN(Element parsed, dataset().parse(*element, pull.pipeline().memory()));
      TROUPE_CO_TRY(check_element(dataset().types(), dataset().shapes(), parsed));
      co_return one_more(std::move(parsed));
    }
  };

  Result<Element> parse(const Element& element, Allocator& memory) const {
    // Of one component there is no need for a copy.
    std::vector<std::string> joined;
    std::span<const std::string> serialized;
    for (const Tensor& component : element) {
      if (component.dtype() != DType::string)
        return invalid_argument(str_cat("Data type mismatch at component 0: expected string but "
                                        "got ",
                                        to_string(component.dtype()), "."));
      serialized = component.data<std::string>();
      if (element.size() > 1)
        joined.insert(joined.end(), serialized.begin(), serialized.end());
    }
    if (element.size() > 1)
      serialized = joined;
    parsing::ExampleInputs inputs{
        .serialized = serialized,
        .sparse_keys = {features_.sparse.begin(), features_.sparse.end()},
        .dense_keys = {features_.dense.begin(), features_.dense.end()},
        .ragged_keys = {features_.ragged.begin(), features_.ragged.end()}};
    for (const Tensor& fallback : features_.defaults)
      inputs.defaults.push_back(&fallback);
    Host host(memory);
    TROUPE_TRY(parsing::parse_examples(host, features_.spec, inputs));
    return components(host);
  }

  // Indices, values and shapes of the sparse ones, the dense ones, values and splits of the ragged
  // ones, each in the place that its key has among all.
  Result<Element> components(Host& host) const {
    Element out(features_.components.size());
    const std::size_t sparse = features_.sparse.size(), dense = features_.dense.size();
    const auto place = [&](const std::string& key) -> Tensor& {
      return out[features_.components.at(key)];
    };
    const auto variant = [](Tensor tensor) {
      return make_variant(tensor_type, {.metadata = {}, .tensors = {std::move(tensor)}});
    };
    for (std::size_t i = 0; i < sparse; ++i) {
      Tensor three = Tensor::make(DType::variant, Shape{3});
      const auto parts = three.mutable_data<Variant>();
      for (std::size_t k = 0; k < 3; ++k)
        parts[k] = variant(host.take(k * sparse + i));
      place(features_.sparse[i]) = std::move(three);
    }
    for (std::size_t i = 0; i < dense; ++i)
      place(features_.dense[i]) = host.take(3 * sparse + i);
    const std::size_t ragged = features_.ragged.size(), first = 3 * sparse + dense;
    for (std::size_t i = 0; i < ragged; ++i) {
      list::Ragged all;
      all.values = host.take(first + i);
      all.splits.push_back(host.take(first + ragged + i));
      place(features_.ragged[i]) = Tensor::scalar(list::make_ragged(std::move(all)));
    }
    return out;
  }

  const Features features_;
};

Status check_count(std::string_view keys, std::size_t count, std::string_view types,
                   std::size_t expected) {
  if (count == expected)
    return {};
  return invalid_argument(
      str_cat("Expected len(", keys, ") == len(", types, ") but got: ", count, " vs. ", expected));
}

Result<Features> features_of(const KernelContext& c) {
  Features out;
  TROUPE_ASSIGN(out.spec, parsing::make_example_spec(c.attrs()));
  TROUPE_ASSIGN(out.sparse, c.attr<std::vector<std::string>>("sparse_keys"));
  TROUPE_ASSIGN(out.dense, c.attr<std::vector<std::string>>("dense_keys"));
  out.ragged = c.attrs().get_or<std::vector<std::string>>("ragged_keys", {});
  TROUPE_TRY(check_count("sparse_keys", out.sparse.size(), "sparse_types", out.spec.sparse.size()));
  TROUPE_TRY(check_count("dense_keys", out.dense.size(), "dense_types", out.spec.dense.size()));
  TROUPE_TRY(
      check_count("ragged_keys", out.ragged.size(), "ragged_value_types", out.spec.ragged.size()));
  std::vector<const Tensor*> defaults;
  for (int i = 2; i < c.num_inputs(); ++i) {
    out.defaults.push_back(c.input(i));
    defaults.push_back(&c.input(i));
  }
  TROUPE_TRY(parsing::check_defaults(out.spec, defaults));
  for (const auto* keys : {&out.dense, &out.sparse, &out.ragged})
    for (const std::string& key : *keys)
      if (!out.components.emplace(key, 0).second)
        return invalid_argument(str_cat("Duplicate key not allowed: ", key));
  std::size_t place = 0;
  for (auto& [key, component] : out.components)
    component = place++;
  return out;
}

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  for (DType type : input->types())
    if (type != DType::string)
      return invalid_argument(str_cat("Input dataset should have elements of strings only, but has "
                                      "some of ",
                                      to_string(type)));
  TROUPE_ASSIGN(const auto wanted, scalar_input<std::int64_t>(c, 1));
  TROUPE_TRY(parallel_calls(c, wanted).status());
  TROUPE_TRY(asks_for_order(c).status());
  TROUPE_ASSIGN(Features features, features_of(c));
  return new_dataset<ParseExampleDataset>(c, std::move(input), std::move(features));
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const std::string_view name :
       {"ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset"}) {
    auto op = library.op(name);
    op.input("input_dataset: variant; num_parallel_calls: int64; dense_defaults: Tdense")
        .output("handle: variant")
        .attr("sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0")
        .attr(str_cat("sparse_types: ", dtypes, "; Tdense: ", dtypes))
        .attr("dense_shapes: list(shape) >= 0")
        .attr(typed)
        .attr(name == "ParseExampleDatasetV2" ? "deterministic: string = 'default'"
                                              : "sloppy: bool = false");
    if (name != "ExperimentalParseExampleDataset")
      op.attr(str_cat("ragged_keys: list(string) >= 0 = []; ragged_value_types: ", dtypes, " = []"))
          .attr("ragged_split_types: list({int32, int64}) >= 0 = []");
    op.shape_fn(shapes_of_scalars<1>)
        .not_differentiable(no_gradient)
        .cpu_kernel(compute<make>)
        .doc("The wanted features of the messages in each element, in the order of their keys: "
             "dense, sparse and ragged ones.");
  }
}

} // namespace troupe::data_parse_example
