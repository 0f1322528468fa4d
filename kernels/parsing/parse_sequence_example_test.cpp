// ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample. Expected values and
// refusals are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "kernels/parsing/testing/examples.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::testing::of_sequences { // files of tests are compiled together
namespace {

using Texts = std::vector<std::string>;
using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

constexpr DType f32 = DType::float32, i64 = DType::int64, str = DType::string;

/// Context c: two floats, d: a number. Lists l: two rows of two floats; m: rows of one, two and no
/// texts; n: rows of one number, none, and of no kind.
std::string full() {
  return sequence_example(
      {{"c", float_feature({1, 2})}, {"d", int_feature({5})}},
      {{"l", feature_list({float_feature({1, 2}), float_feature({3, 4})})},
       {"m", feature_list({bytes_feature({"x"}), bytes_feature({"y", "z"}), bytes_feature({})})},
       {"n", feature_list({int_feature({1}), int_feature({}), ""})}});
}
std::string empty() {
  return sequence_example({}, {});
}
std::string list(const std::string& name, const Texts& features) {
  return sequence_example({}, {{name, feature_list(features)}});
}

struct Part {
  Texts sparse = {};
  Types sparse_types = {};
  Texts dense = {};
  Types dense_types = {};
  Shapes shapes = {};
  Texts ragged = {};
  Types ragged_types = {}, splits = {};
};
struct Wanted {
  std::string name;
  Texts examples;
  Part context = {}, lists = {};
  Texts defaults = {};
  std::vector<bool> may_be_missing = {};
  Texts outputs = {};
  std::string error = {};
  Texts names = {};
};

std::int64_t size(const Texts& keys) {
  return static_cast<std::int64_t>(keys.size());
}

OpCase row(const Wanted& w, bool is_scalar = false) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  out.inputs = {is_scalar ? text(w.examples[0]) : texts(w.examples), texts(w.names)};
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  Texts missing;
  for (std::size_t i = 0; i < w.may_be_missing.size(); ++i)
    if (w.may_be_missing[i])
      missing.push_back(w.lists.dense[i]);
  out.attrs = {{"feature_list_dense_missing_assumed_empty", missing},
               {"context_sparse_keys", w.context.sparse},
               {"context_dense_keys", w.context.dense},
               {"feature_list_sparse_keys", w.lists.sparse},
               {"feature_list_dense_keys", w.lists.dense},
               {"Ncontext_sparse", size(w.context.sparse)},
               {"Ncontext_dense", size(w.context.dense)},
               {"Nfeature_list_sparse", size(w.lists.sparse)},
               {"Nfeature_list_dense", size(w.lists.dense)},
               {"context_sparse_types", w.context.sparse_types},
               {"Tcontext_dense", w.context.dense_types},
               {"context_dense_shapes", w.context.shapes},
               {"feature_list_sparse_types", w.lists.sparse_types},
               {"feature_list_dense_types", w.lists.dense_types},
               {"feature_list_dense_shapes", w.lists.shapes}};
  return out;
}

OpCase row_v2(const Wanted& w, bool is_scalar = false) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  std::string missing = "bool[" + std::to_string(w.may_be_missing.size()) + "]";
  for (const bool is : w.may_be_missing)
    missing += is ? " true" : " false";
  out.inputs = {is_scalar ? text(w.examples[0]) : texts(w.examples),
                texts(w.names),
                texts(w.context.sparse),
                texts(w.context.dense),
                texts(w.context.ragged),
                texts(w.lists.sparse),
                texts(w.lists.dense),
                texts(w.lists.ragged),
                missing};
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  out.attrs = {{"Ncontext_sparse", static_cast<std::int64_t>(w.context.sparse_types.size())},
               {"Nfeature_list_sparse", static_cast<std::int64_t>(w.lists.sparse_types.size())},
               {"Nfeature_list_dense", static_cast<std::int64_t>(w.lists.dense_types.size())},
               {"context_sparse_types", w.context.sparse_types},
               {"Tcontext_dense", w.context.dense_types},
               {"context_dense_shapes", w.context.shapes},
               {"context_ragged_value_types", w.context.ragged_types},
               {"context_ragged_split_types", w.context.splits},
               {"feature_list_sparse_types", w.lists.sparse_types},
               {"feature_list_dense_types", w.lists.dense_types},
               {"feature_list_dense_shapes", w.lists.shapes},
               {"feature_list_ragged_value_types", w.lists.ragged_types},
               {"feature_list_ragged_split_types", w.lists.splits}};
  return out;
}

OpCase row_single(const Wanted& w) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  Texts missing;
  for (std::size_t i = 0; i < w.may_be_missing.size(); ++i)
    if (w.may_be_missing[i])
      missing.push_back(w.lists.dense[i]);
  out.inputs = {text(w.examples[0]), texts(missing)};
  for (const Texts* keys : {&w.context.sparse, &w.context.dense, &w.lists.sparse, &w.lists.dense})
    for (const std::string& key : *keys)
      out.inputs.push_back(text(key));
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  out.inputs.push_back(w.names.empty() ? "str[0]" : text(w.names[0]));
  out.attrs = {{"Ncontext_sparse", size(w.context.sparse)},
               {"Ncontext_dense", size(w.context.dense)},
               {"Nfeature_list_sparse", size(w.lists.sparse)},
               {"Nfeature_list_dense", size(w.lists.dense)},
               {"context_sparse_types", w.context.sparse_types},
               {"Tcontext_dense", w.context.dense_types},
               {"context_dense_shapes", w.context.shapes},
               {"feature_list_sparse_types", w.lists.sparse_types},
               {"feature_list_dense_types", w.lists.dense_types},
               {"feature_list_dense_shapes", w.lists.shapes}};
  return out;
}

Part dense_of(const std::string& key, DType dtype, PartialShape shape) {
  return {.dense = {key}, .dense_types = {dtype}, .shapes = {std::move(shape)}};
}
Part sparse_of(const std::string& key, DType dtype) {
  return {.sparse = {key}, .sparse_types = {dtype}};
}
Wanted context_dense(std::string name, Texts examples, DType dtype, PartialShape shape,
                     std::string fallback, std::string error) {
  return {.name = std::move(name),
          .examples = std::move(examples),
          .context = dense_of("c", dtype, std::move(shape)),
          .defaults = {std::move(fallback)},
          .error = std::move(error),
          .names = {}};
}
Wanted list_dense(std::string name, Texts examples, DType dtype, PartialShape shape,
                  std::string error) {
  return {.name = std::move(name),
          .examples = std::move(examples),
          .lists = dense_of("l", dtype, std::move(shape)),
          .may_be_missing = {false},
          .error = std::move(error)};
}

/// The same of a batch in both versions.
std::vector<Wanted> of_batches() {
  const Part lists_of_all = {.sparse = {"m", "n"},
                             .sparse_types = {str, i64},
                             .dense = {"l"},
                             .dense_types = {f32},
                             .shapes = {{2}}};
  const Part both = {.sparse = {"d"},
                     .sparse_types = {i64},
                     .dense = {"c"},
                     .dense_types = {f32},
                     .shapes = {{2}}};
  Part too_many_types = sparse_of("c", f32);
  too_many_types.sparse_types = {f32, f32};
  const std::string again = float_feature({9, 9});
  return {
      {.name = "dense and sparse",
       .examples = {full(), empty()},
       .context = both,
       .lists = lists_of_all,
       .defaults = {"f32[2] 9 9"},
       .may_be_missing = {true},
       .outputs = {"i64[1,2] 0 0", "i64[1] 5", "i64[2] 2 1", "f32[2,2] 1 2 9 9",
                   "i64[3,3] 0 0 0 0 1 0 0 1 1", "i64[1,3] 0 0 0", "str[3] \"x\" \"y\" \"z\"",
                   "i64[1] 1", "i64[3] 2 3 2", "i64[3] 2 3 1", "f32[2,2,2] 1 2 3 4 0 0 0 0",
                   "i64[2] 2 0"}},
      {.name = "padded lists",
       .examples = {full(), list("l", {again, again, again})},
       .lists = dense_of("l", f32, {2}),
       .may_be_missing = {false},
       .outputs = {"f32[2,3,2] 1 2 3 4 0 0 9 9 9 9 9 9", "i64[2] 2 3"}},
      {.name = "an empty list",
       .examples = {list("l", {}), full()},
       .lists = dense_of("l", f32, {2}),
       .may_be_missing = {false},
       .outputs = {"f32[2,2,2] 0 0 0 0 1 2 3 4", "i64[2] 0 2"}},
      {.name = "padded texts",
       .examples = {list("l", {bytes_feature({"a"}), bytes_feature({"b"})}),
                    list("l", {bytes_feature({"c"})})},
       .lists = dense_of("l", str, PartialShape(Shape{})),
       .may_be_missing = {false},
       .outputs = {"str[2,2] \"a\" \"b\" \"c\" \"\"", "i64[2] 2 1"}},
      {.name = "rows of no kind",
       .examples = {list("l", {"", float_feature({1}), ""})},
       .lists = sparse_of("l", f32),
       .outputs = {"i64[1,3] 0 1 0", "f32[1] 1", "i64[3] 1 3 1"}},
      {.name = "merged messages",
       .examples = {full() + sequence_example({{"d", int_feature({6, 7})}}, {})},
       .context = sparse_of("d", i64),
       .outputs = {"i64[2,2] 0 0 0 1", "i64[2] 6 7", "i64[2] 1 2"}},
      {.name = "maps and other fields that are cut",
       .examples = {"\x0a\x40" + map_of({{"d", int_feature({5})}}).text(), "\x12\x05", "junk!!"},
       .context = sparse_of("d", i64),
       .outputs = {"i64[1,2] 0 0", "i64[1] 5", "i64[2] 3 1"}},
      {.name = "no messages",
       .examples = {},
       .context = sparse_of("d", i64),
       .lists = lists_of_all,
       .may_be_missing = {false},
       .outputs = {"i64[0,2]", "i64[0]", "i64[2] 0 0", "i64[0,3]", "i64[0,3]", "str[0]", "i64[0]",
                   "i64[3] 0 0 0", "i64[3] 0 0 0", "f32[0,0,2]", "i64[0]"}},
      context_dense("missing everywhere", {empty()}, f32, {2}, "f32[0]",
                    "Inconsistent max number of elements for feature c: expected 2, but found 0"),
      context_dense("missing once", {full(), empty()}, f32, {2}, "f32[0]",
                    "Feature: c (data type: float) is required but could not be found."),
      context_dense("too few", {full()}, f32, {3}, "f32[0]",
                    "Inconsistent max number of elements for feature c: expected 3, but found 2"),
      context_dense("too few once", {full(), sequence_example({{"c", float_feature({1})}}, {})},
                    f32, {2}, "f32[0]", "Unexpected number of elements in example <unknown>"),
      context_dense("another kind", {full()}, i64, {2}, "i64[0]",
                    "Name: <unknown>, Context feature: c.  Data types don't match. Expected type: "
                    "int64"),
      context_dense("a default of another shape", {full()}, f32, {2}, "f32[3] 1 2 3",
                    "default_value[0].shape() == [3] != context_dense_shapes[0] == [2]"),
      context_dense("an unknown shape", {full()}, f32, {-1}, "f32[0]",
                    "context_dense_shapes[0] must be fully defined, but is [?]"),
      {.name = "another kind, sparse",
       .examples = {full()},
       .context = sparse_of("c", i64),
       .error = "Name: a, Context feature: c.  Data types don't match. Expected type: int64",
       .names = {"a"}},
      list_dense("a missing list", {empty()}, f32, {2},
                 "Name: <unknown>, Feature list 'l' is required but could not be found.  Did you "
                 "mean to include it in feature_list_dense_missing_assumed_empty or "
                 "feature_list_dense_defaults?"),
      list_dense("a list of another kind", {full()}, i64, {2},
                 "Name: <unknown>, Feature list: l, Index: 0.  Data types don't match. Expected "
                 "type: int64"),
      list_dense(
          "rows that are too short", {full()}, f32, {3},
          "Feature list 'l' has an unexpected number of values.  Total values size: 4 is not "
          "consistent with output shape: [?,3]"),
      list_dense(
          "uneven rows", {list("l", {float_feature({1}), float_feature({1, 2, 3})})}, f32, {2},
          "Name: <unknown>, Key: l, Index: 0.  Number of values != expected.  values size: 1 "
          "but output shape: [2]"),
      list_dense(
          "a row of no kind", {list("l", {""})}, f32, {1},
          "Name: <unknown>, Key: l, Index: 0.  Number of values != expected.  values size: 0 "
          "but output shape: [1]"),
      list_dense("no list", {sequence_example({}, {{"l", "\x0a\x09"}})}, f32, {1},
                 "Error in sequence feature l in example <unknown>"),
      {.name = "an empty row of another kind",
       .examples = {list("l", {float_feature({1}), int_feature({})})},
       .lists = sparse_of("l", f32),
       .error = "Name: <unknown>, Feature list: l, Index: 1.  Data types don't match. Expected "
                "type: float"},
      {.name = "no message",
       .examples = {full(), "gar"},
       .lists = sparse_of("m", str),
       .error = "Invalid protocol message input, example id: b",
       .names = {"a", "b"}},
      {.name = "names that are too many",
       .examples = {full()},
       .lists = sparse_of("m", str),
       .error = "example_names must be empty or have the correct number of elements",
       .names = {"a", "b"}},
      {.name = "one context feature twice",
       .examples = {full()},
       .context = {.sparse = {"c"},
                   .sparse_types = {f32},
                   .dense = {"c"},
                   .dense_types = {f32},
                   .shapes = {{2}}},
       .defaults = {"f32[0]"},
       .error = "Context feature c cannot be both dense and sparse"},
      {.name = "one list twice",
       .examples = {full()},
       .lists = {.sparse = {"l"},
                 .sparse_types = {f32},
                 .dense = {"l"},
                 .dense_types = {f32},
                 .shapes = {{2}}},
       .may_be_missing = {false},
       .error = "Sequence feature l cannot be both dense and sparse"},
      {.name = "one key twice",
       .examples = {full()},
       .context = {.sparse = {"c", "c"}, .sparse_types = {f32, f32}},
       .error = "Two features have the key 'c'"},
  };
}

TROUPE_OP_CASES(ParseSequenceExample) {
  std::vector<OpCase> out;
  for (const Wanted& wanted : of_batches())
    out.push_back(row(wanted));
  Part types = sparse_of("c", f32);
  types.sparse_types = {f32, f32};
  out.push_back(row({.name = "types that are too many",
                     .examples = {full()},
                     .context = types,
                     .error = "num_context_sparse (1) must match the size of context_sparse_types "
                              "(2)"}));
  OpCase keys = row({.name = "keys that are too few",
                     .examples = {full()},
                     .context = sparse_of("c", f32),
                     .error = "num_context_sparse (2) must match the size of context_sparse_keys "
                              "(1)"});
  keys.attrs[5].second = std::int64_t{2};
  out.push_back(keys);
  out.push_back(row({.name = "one message",
                     .examples = {full()},
                     .context = sparse_of("d", i64),
                     .lists = {.sparse = {"m", "n"},
                               .sparse_types = {str, i64},
                               .dense = {"l"},
                               .dense_types = {f32},
                               .shapes = {{2}}},
                     .may_be_missing = {false},
                     .outputs = {"i64[1,1] 0", "i64[1] 5", "i64[1] 1", "i64[3,2] 0 0 1 0 1 1",
                                 "i64[1,2] 0 0", "str[3] \"x\" \"y\" \"z\"", "i64[1] 1",
                                 "i64[2] 3 2", "i64[2] 3 1", "f32[2,2] 1 2 3 4", "i64[] 2"}},
                    true));
  OpCase matrix = row({.name = "a matrix",
                       .examples = {full()},
                       .context = sparse_of("c", f32),
                       .error = "Expected serialized to be a scalar or vector, got shape: [1,1]"});
  matrix.inputs[0] = to_literal(Tensor::of<std::string>({1, 1}, {full()}));
  out.push_back(matrix);
  return out;
}

TROUPE_OP_CASES(ParseSequenceExampleV2) {
  std::vector<OpCase> out;
  for (const Wanted& wanted : of_batches())
    out.push_back(row_v2(wanted));
  const Part lists = {.dense = {"l"},
                      .dense_types = {f32},
                      .shapes = {{2}},
                      .ragged = {"m", "n"},
                      .ragged_types = {str, i64},
                      .splits = {i64, DType::int32}};
  const Part context = {.ragged = {"c"}, .ragged_types = {f32}, .splits = {DType::int32}};
  out.push_back(
      row_v2({.name = "ragged",
              .examples = {full(), empty()},
              .context = context,
              .lists = lists,
              .may_be_missing = {true},
              .outputs = {"f32[2] 1 2", "i32[3] 0 2 2", "f32[2,2,2] 1 2 3 4 0 0 0 0", "i64[2] 2 0",
                          "str[3] \"x\" \"y\" \"z\"", "i64[1] 1", "i64[3] 0 3 3", "i32[3] 0 3 3",
                          "i64[4] 0 1 3 3", "i32[4] 0 1 1 1"}}));
  out.push_back(row_v2({.name = "ragged, one message",
                        .examples = {full()},
                        .context = context,
                        .lists = lists,
                        .may_be_missing = {false},
                        .outputs = {"f32[2] 1 2", "i32[] 0", "f32[2,2] 1 2 3 4", "i64[] 2",
                                    "str[3] \"x\" \"y\" \"z\"", "i64[1] 1", "i64[] 0", "i32[] 0",
                                    "i64[4] 0 1 3 3", "i32[4] 0 1 1 1"}},
                       true));
  out.push_back(row_v2({.name = "ragged of another kind",
                        .examples = {full()},
                        .lists = {.ragged = {"n"}, .ragged_types = {f32}, .splits = {i64}},
                        .error = "Name: nm, Feature list: n, Index: 0.  Data types don't match. "
                                 "Expected type: float",
                        .names = {"nm"}}));
  out.push_back(row_v2({.name = "ragged and sparse",
                        .examples = {full()},
                        .context = {.sparse = {"d"},
                                    .sparse_types = {i64},
                                    .ragged = {"d"},
                                    .ragged_types = {i64},
                                    .splits = {i64}},
                        .error = "Context feature d cannot be both ragged and sparse"}));
  out.push_back(row_v2({.name = "splits that are too many",
                        .examples = {full()},
                        .context = {.ragged = {"d"}, .ragged_types = {i64}, .splits = {i64, i64}},
                        .error = "num_context_ragged (1) must match the size of "
                                 "context_ragged_split_types (2)"}));
  const auto keys = [&](std::string name, std::size_t input, const std::string& error) {
    OpCase wrong = row_v2({.name = std::move(name),
                           .examples = {full()},
                           .context = sparse_of("d", i64),
                           .error = "Expected len(" + error});
    wrong.inputs[input] = input == 8 ? "bool[2] true" : "str[2] \"a\" \"b\"";
    out.push_back(wrong);
  };
  keys("sparse keys", 2, "context_sparse_keys) to match Ncontext_sparse");
  keys("dense keys", 3, "context_dense_keys) to match len(Tcontext_dense)");
  keys("ragged keys", 4, "context_ragged_keys) to match len(context_ragged_value_types)");
  keys("sparse lists", 5, "feature_list_sparse_keys) to match Nfeature_list_sparse");
  keys("dense lists", 6, "feature_list_dense_keys) to match Nfeature_list_dense");
  keys("ragged lists", 7,
       "feature_list_ragged_keys) to match len(feature_list_ragged_value_types)");
  keys("lists that may be missing", 8,
       "feature_list_dense_missing_assumed_empty to match Nfeature_list_dense");
  return out;
}

TROUPE_OP_CASES(ParseSingleSequenceExample) {
  const auto named = [](Wanted w) {
    w.names = {"a"};
    return row_single(w);
  };
  OpCase vector = named({.name = "a vector",
                         .examples = {full()},
                         .context = sparse_of("c", f32),
                         .error = "Expected serialized to be a scalar, got shape: [1]"});
  vector.inputs[0] = texts({full()});
  OpCase key = named({.name = "a key in a vector",
                      .examples = {full()},
                      .context = sparse_of("c", f32),
                      .error = "Expected context_sparse_keys[0] to be a scalar, got shape: [1]"});
  key.inputs[2] = texts({"c"});
  OpCase names = named({.name = "names",
                        .examples = {full()},
                        .context = sparse_of("c", f32),
                        .error = "Expected debug_name to be a scalar, got shape: [2]"});
  names.inputs.back() = texts({"a", "b"});
  OpCase missing = named(
      {.name = "a scalar of what may be missing",
       .examples = {full()},
       .context = sparse_of("c", f32),
       .error = "Expected feature_list_dense_missing_assumed_empty to be a vector, got shape: []"});
  missing.inputs[1] = text("l");
  Part types = sparse_of("n", i64);
  types.sparse_types = {i64, i64};
  Wanted may_be_missing = list_dense("a list that may be missing", {empty()}, f32, {2}, "");
  may_be_missing.may_be_missing = {true};
  may_be_missing.outputs = {"f32[0,2]"};
  Wanted with_default = context_dense("a default", {empty()}, f32, {2}, "f32[2] 8 7", "");
  with_default.outputs = {"f32[2] 8 7"};
  return {
      named({.name = "dense and sparse",
             .examples = {full()},
             .context = {.sparse = {"d", "q"},
                         .sparse_types = {i64, i64},
                         .dense = {"c"},
                         .dense_types = {f32},
                         .shapes = {{2}}},
             .lists = {.sparse = {"m", "n", "q"},
                       .sparse_types = {str, i64, i64},
                       .dense = {"l"},
                       .dense_types = {f32},
                       .shapes = {{2}}},
             .defaults = {"f32[2] 9 9"},
             .may_be_missing = {true},
             .outputs = {"i64[1,1] 0", "i64[0,1]", "i64[1] 5", "i64[0]", "i64[1] 1", "i64[1] 0",
                         "f32[2] 1 2", "i64[3,2] 0 0 1 0 1 1", "i64[1,2] 0 0", "i64[0,2]",
                         "str[3] \"x\" \"y\" \"z\"", "i64[1] 1", "i64[0]", "i64[2] 3 2",
                         "i64[2] 3 1", "i64[2] 0 0", "f32[2,2] 1 2 3 4"}}),
      named(may_be_missing),
      named(with_default),
      named(context_dense("missing", {empty()}, f32, {2}, "f32[0]",
                          "Name: a, Context feature 'c' is required but could not be found.")),
      row_single(context_dense("missing without a name", {empty()}, f32, {2}, "f32[0]",
                               "Name: <unknown>, Context feature 'c' is required")),
      named(context_dense("another kind", {full()}, i64, {2}, "i64[0]",
                          "Name: a, Context feature: c.  Data types don't match. Expected type: "
                          "int64  Feature is: float_list of 2 values")),
      named(context_dense("no kind", {sequence_example({{"c", ""}}, {})}, i64, {2}, "i64[0]",
                          "Name: a, Context feature: c.  Data types don't match. Expected type: "
                          "int64  Feature is: empty")),
      named(context_dense("too few", {full()}, f32, {3}, "f32[0]",
                          "Name: a, Key: c, Index: 0.  Number of float values != expected.  values "
                          "size: 2 but output shape: [3]")),
      named(context_dense("too few texts", {sequence_example({{"c", bytes_feature({"x"})}}, {})},
                          str, {3}, "str[0]",
                          "Name: a, Key c, Index: 0.  Number of bytes values != expected.  Values "
                          "size: 1 but output shape: [3]")),
      named(context_dense("a default of another shape", {full()}, f32, {2}, "f32[3] 1 2 3",
                          "def_value[0].shape() == [3] != context_dense_shapes_[0] == [2]")),
      named(
          list_dense("a missing list", {empty()}, f32, {2},
                     "Name: a, Feature list 'l' is required but could not be found.  Did you mean "
                     "to include it in feature_list_dense_missing_assumed_empty or "
                     "feature_list_dense_defaults?")),
      named(
          list_dense("a list of another kind", {full()}, i64, {2},
                     "Name: a, Feature list: l, Index: 0.  Data types don't match. Expected type: "
                     "int64  Feature is: float_list of 2 values")),
      named(list_dense("a row of no kind", {list("l", {float_feature({1}), ""})}, f32, {1},
                       "Name: a, Feature list: l, Index: 1.  Data types don't match.")),
      named(list_dense("rows that are too short", {full()}, f32, {3},
                       "Name: a, Key: l, Index: 0.  Number of float values != expected.  values "
                       "size: 2 but output shape: [3]")),
      named({.name = "a sparse list of another kind",
             .examples = {full()},
             .lists = sparse_of("l", i64),
             .error = "Name: a, Feature List: l, Index: 0.  Data types don't match. Expected type: "
                      "int64  Feature is: "}),
      named({.name = "no message",
             .examples = {"gar"},
             .context = sparse_of("c", f32),
             .error = "Could not parse example input, value: 'gar'"}),
      named({.name = "types that are too many",
             .examples = {full()},
             .lists = types,
             .error = "len(feature_list_sparse_keys) != len(feature_list_sparse_types)"}),
      vector,
      key,
      names,
      missing,
  };
}

} // namespace
} // namespace troupe::testing::of_sequences
