#include "tests/support/ops/dataset_lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/tensor/literal.hpp"
#include "core/tensor/variant.hpp"
#include "kernels/data/internal/dataset.hpp"

namespace troupe::testing {
namespace {

constexpr auto end = "end";

bool is_as(const std::string& got, const std::string& expected) {
  if (!expected.starts_with("error "))
    return got == expected;
  return got.starts_with("error ") &&
         got.find(std::string_view(expected).substr(6)) != std::string::npos;
}

bool are_as(std::vector<std::string> got, std::vector<std::string> expected, bool in_any_order) {
  if (in_any_order) {
    std::ranges::sort(got);
    std::ranges::sort(expected);
  }
  return got.size() == expected.size() &&
         std::equal(got.begin(), got.end(), expected.begin(), is_as);
}

/// What a checkpoint gives back.
Tensor as_read(const Tensor& tensor) {
  Tensor out = tensor.deep_copy();
  if (tensor.dtype() != DType::variant)
    return out;
  for (Variant& variant : out.mutable_data<Variant>()) {
    auto parts = parts_of(variant);
    REQUIRE_MESSAGE(parts.ok(), parts.status().to_string());
    for (Tensor& inner : parts->tensors)
      inner = as_read(inner);
    variant = make_variant(variant.type_name, *std::move(parts));
  }
  return out;
}

std::string number_of_dataset(const Tensor& value) {
  return str_cat(value.data<std::int64_t>()[0]);
}

} // namespace

std::string constant(std::string_view name, std::string_view literal) {
  const auto tensor = parse_literal(literal);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return str_cat(name, " = Const[dtype=", to_string(tensor->dtype()), ", value=", literal, "]()\n");
}

std::string range_lines(std::string_view name, std::int64_t count) {
  const std::string n(name);
  return str_cat(constant(n + "_from", "i64[] 0"), constant(n + "_to", str_cat("i64[] ", count)),
                 constant(n + "_by", "i64[] 1"), n, " = RangeDataset", of_int64, "(", n, "_from, ",
                 n, "_to, ", n, "_by)\n");
}

void DatasetLines::add_iterator(const std::string& dataset) {
  if (std::ranges::find(with_iterators_, dataset) != with_iterators_.end())
    return;
  auto made = values({dataset});
  REQUIRE_MESSAGE(made.ok(), made.status().to_string());
  auto found = data::dataset_in((*made)[0]);
  REQUIRE_MESSAGE(found.ok(), found.status().to_string());
  std::vector<std::string> types, shapes;
  for (DType type : (*found)->types())
    types.push_back(to_string(type));
  for (const PartialShape& shape : (*found)->shapes())
    shapes.push_back(shape.to_string());
  const std::string attrs = str_cat("[output_types=[", str_join(types, ", "), "], output_shapes=[",
                                    str_join(shapes, ", "), "]");
  const std::string& d = dataset;
  add(str_cat(d, "_it = IteratorV2", attrs, ", shared_name=\"", d, "_it\", container=\"\"]()"));
  add(str_cat(d, "_make = MakeIterator(", d, ", ", d, "_it)"));
  add(str_cat(d, "_next = IteratorGetNext", attrs, "](", d, "_it)"));
  add(str_cat(d, "_state = SerializeIterator(", d, "_it)"));
  add(str_cat(d, "_saved = Placeholder[dtype=variant]()"));
  add(str_cat(d, "_restore = DeserializeIterator(", d, "_it, ", d, "_saved)"));
  add(str_cat(d, "_count = DatasetCardinality(", d, ")"));
  with_iterators_.push_back(d);
}

std::string DatasetLines::next(const std::string& dataset) {
  auto made = values({dataset});
  std::vector<std::string> fetches;
  const auto found = data::dataset_in((*made)[0]);
  for (std::size_t i = 0; i < (*found)->types().size(); ++i)
    fetches.push_back(str_cat(dataset, "_next:", i));
  auto element = values(fetches);
  if (element.status().code() == Code::out_of_range)
    return end;
  if (!element.ok())
    return str_cat("error ", element.status().to_string());
  std::vector<std::string> texts;
  for (const Tensor& component : *element)
    texts.push_back(component.dtype() == DType::variant ? std::string("variant")
                                                        : component.to_string(100));
  return str_join(texts, " ");
}

std::vector<std::string> DatasetLines::rest(const std::string& dataset, std::size_t limit) {
  std::vector<std::string> out;
  while (out.size() < limit) {
    std::string element = next(dataset);
    if (element == end)
      break;
    out.push_back(std::move(element));
  }
  return out;
}

std::vector<std::string> DatasetLines::elements(const std::string& dataset, std::size_t limit) {
  add_iterator(dataset);
  const std::string made = run({str_cat("^", dataset, "_make")});
  if (made != "ok")
    return {str_cat("error ", made)};
  return rest(dataset, limit);
}

void DatasetLines::check(const std::string& dataset, const std::vector<std::string>& expected,
                         const DatasetFacts& facts) {
  CAPTURE(dataset);
  // Of a dataset without end as many elements as are expected.
  const bool has_end = facts.cardinality != "-1";
  const std::size_t limit = has_end ? expected.size() + 1 : expected.size();
  for (int round = 0; round < 2; ++round) {
    const auto got = elements(dataset, limit);
    CHECK_MESSAGE(are_as(got, expected, facts.is_unordered), str_join(got, "; "), " is not ",
                  str_join(expected, "; "));
    if (has_end)
      CHECK(next(dataset) == end);
  }
  const auto count = values({dataset + "_count"});
  REQUIRE_MESSAGE(count.ok(), count.status().to_string());
  CHECK(number_of_dataset((*count)[0]) ==
        (facts.cardinality.empty() ? str_cat(expected.size()) : facts.cardinality));
  if (!facts.can_be_saved)
    return;
  for (std::size_t cut = 0; cut <= expected.size(); cut += cut < 3 ? 1 : 3) {
    CAPTURE(cut);
    auto got = elements(dataset, cut);
    const auto state = values({dataset + "_state"});
    REQUIRE_MESSAGE(state.ok(), state.status().to_string());
    REQUIRE(run({str_cat("^", dataset, "_make")}) == "ok");
    const auto restored =
        values({str_cat("^", dataset, "_restore")}, {{dataset + "_saved", as_read((*state)[0])}});
    REQUIRE_MESSAGE(restored.ok(), restored.status().to_string());
    for (std::string& element : rest(dataset, limit - cut))
      got.push_back(std::move(element));
    CHECK_MESSAGE(are_as(got, expected, facts.is_unordered), str_join(got, "; "), " is not ",
                  str_join(expected, "; "));
  }
}

void DatasetLines::check_refused(const std::string& dataset, std::string_view text) {
  CAPTURE(dataset);
  std::string said = run({"^" + dataset});
  if (said == "ok") {
    add_iterator(dataset);
    said = run({str_cat("^", dataset, "_make")});
  }
  CHECK_MESSAGE(said.find(text) != std::string::npos, said, " does not say ", text);
  CHECK(!said.starts_with("ok"));
}

} // namespace troupe::testing
