// ParseExample, ParseExampleV2, ParseSingleExample. Expected values and refusals are TensorFlow
// 2.21's.
#include <doctest/doctest.h>

#include "kernels/parsing/testing/examples.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::testing::of_examples { // files of tests are compiled together
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;
using Texts = std::vector<std::string>;
using Types = std::vector<DType>;

const std::string nothing = "str[0]";

/// a: two floats, b: a number, s: two texts.
std::string full() {
  return example(
      {{"a", float_feature({1, 2})}, {"b", int_feature({3})}, {"s", bytes_feature({"x", "yy"})}});
}
std::string floats(const std::vector<float>& values) {
  return example({{"a", float_feature(values)}});
}

/// An example with feature a of these bytes.
std::string raw(const std::string& feature) {
  return example({{"a", feature}});
}

struct Wanted {
  std::string name;
  Texts examples;
  Texts sparse = {};
  Types sparse_types = {};
  Texts dense = {}, defaults = {};
  Types dense_types = {};
  std::vector<PartialShape> shapes = {};
  Texts outputs = {};
  std::string error = {};
  std::string names = nothing;
  Texts ragged = {};
  Types ragged_types = {}, split_types = {};
};

std::string key(const std::string& name) {
  return "str[] \"" + name + "\"";
}

/// As a row of ParseExample.
OpCase row(const Wanted& w) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  out.inputs = {texts(w.examples), w.names};
  for (const std::string& one : w.sparse)
    out.inputs.push_back(key(one));
  for (const std::string& one : w.dense)
    out.inputs.push_back(key(one));
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  out.attrs = {{"Nsparse", static_cast<std::int64_t>(w.sparse.size())},
               {"Ndense", static_cast<std::int64_t>(w.dense.size())},
               {"sparse_types", w.sparse_types},
               {"Tdense", w.dense_types},
               {"dense_shapes", w.shapes}};
  return out;
}

/// As a row of ParseExampleV2, of all examples or of the only one.
OpCase row_v2(const Wanted& w, bool is_scalar = false) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  out.inputs = {is_scalar ? text(w.examples[0]) : texts(w.examples), w.names, texts(w.sparse),
                texts(w.dense), texts(w.ragged)};
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  out.attrs = {{"num_sparse", static_cast<std::int64_t>(w.sparse_types.size())},
               {"sparse_types", w.sparse_types},
               {"Tdense", w.dense_types},
               {"dense_shapes", w.shapes},
               {"ragged_value_types", w.ragged_types},
               {"ragged_split_types", w.split_types}};
  return out;
}

/// As a row of ParseSingleExample.
OpCase row_single(const Wanted& w) {
  OpCase out{.name = w.name, .outputs = w.outputs, .error = w.error};
  out.inputs = {text(w.examples[0])};
  out.inputs.insert(out.inputs.end(), w.defaults.begin(), w.defaults.end());
  out.attrs = {{"num_sparse", static_cast<std::int64_t>(w.sparse.size())},
               {"sparse_keys", w.sparse},
               {"dense_keys", w.dense},
               {"sparse_types", w.sparse_types},
               {"Tdense", w.dense_types},
               {"dense_shapes", w.shapes}};
  return out;
}

/// Dense feature `key` without a default.
Wanted dense(std::string name, Texts examples, std::string key, DType dtype, PartialShape shape) {
  const std::string none = dtype == DType::string    ? "str[0]"
                           : dtype == DType::float32 ? "f32[0]"
                                                     : "i64[0]";
  return {.name = std::move(name),
          .examples = std::move(examples),
          .dense = {std::move(key)},
          .defaults = {none},
          .dense_types = {dtype},
          .shapes = {std::move(shape)}};
}
Wanted sparse(std::string name, Texts examples, std::string key, DType dtype) {
  return {.name = std::move(name),
          .examples = std::move(examples),
          .sparse = {std::move(key)},
          .sparse_types = {dtype}};
}
Wanted padded(std::string name, Texts examples) {
  Wanted out = dense(std::move(name), std::move(examples), "a", DType::float32, {-1, 2});
  out.defaults = {"f32[1] -1"};
  return out;
}
Wanted gives(Wanted w, Texts outputs) {
  w.outputs = std::move(outputs);
  return w;
}
Wanted fails(Wanted w, std::string error) {
  w.error = std::move(error);
  return w;
}
Wanted with_default(Wanted w, std::string value) {
  w.defaults = {std::move(value)};
  return w;
}
Wanted with_names(Wanted w, std::string names) {
  w.names = std::move(names);
  return w;
}

constexpr DType f32 = DType::float32, i64 = DType::int64, str = DType::string;

/// The same of a batch in both versions.
std::vector<Wanted> of_batches() {
  const std::string one = "\x0d" + std::string("\0\0\x80\x3f", 4), // 1, not packed
      packed_two = "\x0a\x04" + std::string("\0\0\0\x40", 4);      // 2, packed
  const std::string any_message = "\x10\x05" + full();
  const std::string claims_more = "\x0a\x40" + map_of({{"a", float_feature({1, 2})}}).text();
  return {
      gives(dense("floats", {full()}, "a", f32, {2}), {"f32[1,2] 1 2"}),
      gives(dense("numbers", {full(), full()}, "b", i64, PartialShape(Shape{})), {"i64[2] 3 3"}),
      gives(dense("numbers of every size",
                  {example({{"b", int_feature({0, 127, 128, 300, -1, INT64_MIN, INT64_MAX})}})},
                  "b", i64, {7}),
            {"i64[1,7] 0 127 128 300 -1 -9223372036854775808 9223372036854775807"}),
      gives(dense("many small numbers",
                  {example({{"b", int_feature({1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 11, 12})}})}, "b",
                  i64, {3, 4}),
            {"i64[1,3,4] 1 2 3 4 5 6 7 8 9 200 11 12"}),
      gives(dense("texts", {full()}, "s", str, {2}), {"str[1,2] \"x\" \"yy\""}),
      gives(with_default(dense("a default", {example({})}, "a", f32, {2}), "f32[2] -1 2"),
            {"f32[1,2] -1 2"}),
      gives(with_default(dense("a default text", {example({}), full()}, "s", str, {2}),
                         "str[2] \"d\" \"e\""),
            {"str[2,2] \"d\" \"e\" \"x\" \"yy\""}),
      gives(sparse("sparse", {full(), example({}), floats({5}), raw("")}, "a", f32),
            {"i64[3,2] 0 0 0 1 2 0", "f32[3] 1 2 5", "i64[2] 4 2"}),
      gives(sparse("sparse texts", {full(), example({})}, "s", str),
            {"i64[2,2] 0 0 0 1", "str[2] \"x\" \"yy\"", "i64[2] 2 2"}),
      gives(padded("padded", {full(), example({}), floats({5, 6, 7, 8})}),
            {"f32[3,2,2] 1 2 -1 -1 -1 -1 -1 -1 5 6 7 8"}),
      gives(padded("nothing to pad", {example({})}), {"f32[1,0,2]"}),
      gives(with_default(dense("padded texts", {full(), example({})}, "s", str, {-1}),
                         "str[] \"pad\""),
            {"str[2,2] \"x\" \"yy\" \"pad\" \"pad\""}),
      gives(dense("merged messages", {floats({1, 2}) + floats({3, 4})}, "a", f32, {2}),
            {"f32[1,2] 3 4"}),
      gives(dense("merged with an empty one", {floats({1, 2}) + raw("")}, "a", f32, {2}),
            {"f32[1,2] 1 2"}),
      gives(sparse("sparse merged with an empty one", {floats({1, 2}) + raw("")}, "a", f32),
            {"i64[0,2]", "f32[0]", "i64[2] 1 0"}),
      gives(dense("not packed", {raw("\x12\x0a" + one + one)}, "a", f32, {2}), {"f32[1,2] 1 1"}),
      gives(dense("packed and not", {raw("\x12\x0b" + one + packed_two)}, "a", f32, {2}),
            {"f32[1,2] 1 2"}),
      gives(dense("numbers not packed", {raw("\x1a\x05\x08\x05\x08\x80\x01")}, "a", i64, {2}),
            {"i64[1,2] 5 128"}),
      gives(sparse("a kind that is not wanted", {raw("\x22\x01\x01")}, "b", f32),
            {"i64[0,2]", "f32[0]", "i64[2] 1 0"}),
      gives(dense("fields of later versions", {any_message}, "a", f32, {2}), {"f32[1,2] 1 2"}),
      fails(dense("too few", {full()}, "a", f32, {3}),
            "Name: <unknown>, Key: a, Index: 0.  Number of float values != expected.  Values size: "
            "2 but output shape: [3]"),
      fails(dense("too many", {full()}, "a", f32, {1}),
            "Number of float values != expected.  Values size: 2 but output shape: [1]"),
      fails(dense("too few numbers", {example({{"b", int_feature({1, 2})}})}, "b", i64, {3}),
            "Key: b, Index: 0.  Number of int64 values != expected.  Values size: 2 but output "
            "shape: [3]"),
      fails(dense("too few texts", {full()}, "s", str, {3}),
            "Number of bytes values != expected.  Values size: 2 but output shape: [3]"),
      fails(dense("too many texts", {full()}, "s", str, {1}),
            "Name: <unknown>, Key: s, Index: 0.  Can't parse serialized Example."),
      fails(with_names(dense("another kind", {full()}, "a", i64, {2}), "str[1] \"n\""),
            "Name: n, Key: a, Index: 0.  Data types don't match. Data type: float but expected "
            "type: int64"),
      fails(sparse("another kind, sparse", {example({}), full()}, "a", i64),
            "Name: <unknown>, Key: a, Index: 1.  Data types don't match. Expected type: int64, "
            "Actual type: float"),
      fails(with_names(dense("missing", {full()}, "z", i64, {2}), "str[1] \"n\""),
            "Name: n, Feature: z (data type: int64) is required but could not be found."),
      fails(dense("no message", {"garb"}, "a", f32, {2}),
            "Could not parse example input, value: 'garb'"),
      gives(with_default(dense("features that are cut between two", {claims_more}, "a", f32, {2}),
                         "f32[2] -1 2"),
            {"f32[1,2] 1 2"}),
      gives(with_default(
                dense("features of which only the length is left", {"\x0a\x05"}, "a", f32, {2}),
                "f32[2] -1 2"),
            {"f32[1,2] -1 2"}),
      gives(with_default(dense("another field that is cut", {"junk!!"}, "a", f32, {2}),
                         "f32[2] -1 2"),
            {"f32[1,2] -1 2"}),
      fails(dense("nothing is left of what is required", {"\x0a\x05"}, "a", f32, {2}),
            "Name: <unknown>, Feature: a (data type: float) is required but could not be found."),
      fails(dense("a feature that is cut", {full().substr(0, full().size() - 1)}, "a", f32, {2}),
            "Could not parse example input, value: "),
      gives(with_default(dense("a field without a number",
                               {"\x02"
                                "ab"},
                               "a", f32, {2}),
                         "f32[2] -1 2"),
            {"f32[1,2] -1 2"}),
      fails(dense("another field that claims 2^31 bytes", {"j\x80\x80\x80\x80\x08"}, "a", f32, {2}),
            "Could not parse example input, value: "),
      fails(dense("a length that is cut", {"\x0a\x80"}, "a", f32, {2}),
            "Could not parse example input, value: "),
      fails(dense("a group", {"\x13\x14"}, "a", f32, {2}),
            "Could not parse example input, value: "),
      fails(dense("a key alone", {"\x0a\x05\x0a\x03\x0a\x01\x61"}, "a", f32, {2}),
            "Could not parse example input, value: "),
      fails(sparse("a kind that there is not", {raw("\x22\x01\x01")}, "a", f32),
            "Unsupported datatype."),
      fails(sparse("half a number", {raw("\x12\x05\x0d\x01\x02\x03\x04")}, "a", i64),
            "Data types don't match. Expected type: int64, Actual type: float"),
      fails(sparse("a list that is cut", {raw("\x12\x10\x0a\x04\x01\x02\x03\x04")}, "a", f32),
            "Name: <unknown>, Key: a, Index: 0.  Can't parse serialized Example."),
      fails(sparse("a number that is cut", {raw("\x1a\x03\x0a\x01\x80")}, "a", i64),
            "Name: <unknown>, Key: a, Index: 0.  Can't parse serialized Example."),
      fails(sparse("a number of eleven bytes",
                   {raw("\x1a\x0d\x0a\x0b" + std::string(10, '\x80') + "\x01")}, "a", i64),
            "Name: <unknown>, Key: a, Index: 0.  Can't parse serialized Example."),
      fails(sparse("a text that is cut", {raw("\x0a\x03\x0a\x09\x61")}, "a", str),
            "Name: <unknown>, Key: a, Index: 0.  Can't parse serialized Example."),
      fails(
          padded("half a row", {full(), floats({5, 6, 7})}),
          "Name: <unknown>, Key: a, Index: 1.  Number of float values is not a multiple of stride "
          "length. Saw 3 values but output shape is: [?,2]"),
      fails(with_default(padded("two values to pad with", {full()}), "f32[2] 1 2"),
            "dense_shape[0] is a variable length shape: [?,2], therefore def_value[0] must contain "
            "a single element (the padding element).  But its shape is: [2]"),
      fails(with_default(dense("a default of another shape", {full()}, "a", f32, {2}),
                         "f32[3] 1 2 3"),
            "def_value[0].shape() == [3] is not compatible with dense_shapes_[0] == [2]"),
      fails(dense("an unknown shape", {full()}, "a", f32, PartialShape()),
            "dense_shapes[0] has unknown rank or unknown inner dimensions: <unknown>"),
      fails(dense("an unknown inner dimension", {full()}, "a", f32, {2, -1}),
            "dense_shapes[0] has unknown rank or unknown inner dimensions: [2,?]"),
      fails(with_default(dense("rows of nothing", {full()}, "a", f32, {-1, 0}), "f32[] 0"),
            "dense_shapes[0] has rows without elements: [?,0]"),
      fails(
          with_names(dense("names of others", {full()}, "a", f32, {2}), "str[2] \"x\" \"y\""),
          "Expected names have the same shape as serialized: name.shape=[2], serialized.shape=[1]"),
      fails({.name = "one key twice",
             .examples = {full()},
             .sparse = {"a"},
             .sparse_types = {f32},
             .dense = {"a"},
             .defaults = {"f32[0]"},
             .dense_types = {f32},
             .shapes = {{2}}},
            "Two features have the key 'a'"),
      fails({.name = "shapes that are too few",
             .examples = {full()},
             .dense = {"a"},
             .defaults = {"f32[0]"},
             .dense_types = {f32}},
            "len(dense_keys) != len(dense_shapes)"),
      gives({.name = "no examples",
             .examples = {},
             .sparse = {"s"},
             .sparse_types = {str},
             .dense = {"a", "b"},
             .defaults = {"f32[0]", "i64[1] 7"},
             .dense_types = {f32, i64},
             .shapes = {{2}, {-1}}},
            {"i64[0,2]", "str[0]", "i64[2] 0 0", "f32[0,2]", "i64[0,0]"}),
  };
}

TROUPE_OP_CASES(ParseExample) {
  std::vector<OpCase> out;
  for (const Wanted& wanted : of_batches())
    out.push_back(row(wanted));
  OpCase scalar = row(fails(dense("a scalar", {full()}, "a", f32, {2}),
                            "Expected serialized to be a vector, got shape: []"));
  scalar.inputs[0] = text(full());
  OpCase keys = row(fails(dense("keys in a vector", {full()}, "a", f32, {2}),
                          "Expected every key to be a scalar, got shape: [2]"));
  keys.inputs[2] = "str[2] \"a\" \"b\"";
  OpCase types = row(fails(sparse("a type too many", {full()}, "a", f32),
                           "len(sparse_keys) != len(sparse_types)"));
  types.attrs[2].second = Types{f32, f32};
  out.insert(out.end(), {scalar, keys, types});
  return out;
}

TROUPE_OP_CASES(ParseExampleV2) {
  std::vector<OpCase> out;
  for (const Wanted& wanted : of_batches())
    out.push_back(row_v2(wanted));
  Wanted all = {.name = "every kind of tensor",
                .examples = {full(), floats({7}), example({})},
                .sparse = {"s"},
                .sparse_types = {str},
                .dense = {"b"},
                .defaults = {"i64[] -1"},
                .dense_types = {i64},
                .shapes = {PartialShape(Shape{})},
                .ragged = {"a"},
                .ragged_types = {f32},
                .split_types = {DType::int32}};
  out.push_back(row_v2(gives(all, {"i64[2,2] 0 0 0 1", "str[2] \"x\" \"yy\"", "i64[2] 3 2",
                                   "i64[3] 3 -1 -1", "f32[3] 1 2 7", "i32[4] 0 2 3 3"})));
  all.name = "every kind of tensor of one example";
  out.push_back(row_v2(gives(all, {"i64[2,1] 0 1", "str[2] \"x\" \"yy\"", "i64[1] 2", "i64[] 3",
                                   "f32[2] 1 2", "i32[0]"}),
                       true));
  Wanted ragged = {.name = "ragged texts",
                   .examples = {full(), example({}), full()},
                   .ragged = {"s"},
                   .ragged_types = {str},
                   .split_types = {i64}};
  out.push_back(row_v2(gives(ragged, {"str[4] \"x\" \"yy\" \"x\" \"yy\"", "i64[4] 0 2 2 4"})));
  ragged.ragged_types = {i64};
  out.push_back(row_v2(fails(ragged, "Name: <unknown>, Key: s, Index: 0.  Data types don't match. "
                                     "Expected type: int64, Actual type: string")));
  ragged.split_types = {i64, i64};
  out.push_back(row_v2(fails(ragged, "len(ragged_keys) != len(ragged_split_types)")));
  ragged.split_types = {i64};
  ragged.ragged = {"s", "t"};
  out.push_back(row_v2(
      fails(ragged, "Expected len(ragged_keys) == len(ragged_value_types) but got: 2 vs. 1")));
  Wanted keys = dense("keys too many", {full()}, "a", f32, {2});
  keys.dense = {"a", "b"};
  out.push_back(
      row_v2(fails(keys, "Expected len(dense_keys) == len(dense_types) but got: 2 vs. 1")));
  keys = sparse("sparse keys too many", {full()}, "a", f32);
  keys.sparse = {"a", "b"};
  out.push_back(row_v2(fails(keys, "Expected len(sparse_keys) == num_sparse but got: 2 vs. 1")));
  OpCase matrix = row_v2(fails(dense("a matrix", {full()}, "a", f32, {2}),
                               "Expected serialized to be a scalar or vector, got shape: [1,1]"));
  matrix.inputs[0] = to_literal(Tensor::of<std::string>({1, 1}, {full()}));
  out.push_back(matrix);
  return out;
}

TROUPE_OP_CASES(ParseSingleExample) {
  Wanted all = {.name = "every kind of tensor",
                .examples = {full()},
                .sparse = {"s", "q"},
                .sparse_types = {str, i64},
                .dense = {"a", "b", "m"},
                .defaults = {"f32[0]", "i64[1] 1", "i64[1] 8"},
                .dense_types = {f32, i64, i64},
                .shapes = {{2}, {-1}, {1}}};
  const std::string cannot = "Can't parse serialized Example: ";
  OpCase vector = row_single(fails(dense("a vector", {full()}, "a", f32, {2}),
                                   "Expected serialized to be a scalar, got shape: [1]"));
  vector.inputs[0] = texts({full()});
  OpCase count = row_single(fails(sparse("a wrong count", {full()}, "a", f32),
                                  "num_sparse (2) must match the size of sparse_keys (1) and "
                                  "sparse_types (1)"));
  count.attrs[0].second = std::int64_t{2};
  Wanted keys = dense("a key too many", {full()}, "a", f32, {2});
  keys.dense = {"a", "b"};
  return {
      row_single(gives(all, {"i64[2,1] 0 1", "i64[0,1]", "str[2] \"x\" \"yy\"", "i64[0]",
                             "i64[1] 2", "i64[1] 0", "f32[2] 1 2", "i64[1] 3", "i64[1] 8"})),
      row_single(gives(sparse("merged with an empty one", {floats({1, 2}) + raw("")}, "a", f32),
                       {"i64[2,1] 0 1", "f32[2] 1 2", "i64[1] 2"})),
      row_single(gives(padded("no values", {example({})}), {"f32[0,2]"})),
      row_single(fails(dense("too few", {full()}, "a", f32, {3}),
                       "Key: a.  " + cannot + "Some float_list slice was not parsed.")),
      row_single(fails(dense("too many", {full()}, "b", i64, {0}),
                       "Key: b.  " + cannot + "Some int64_list slice was not parsed.")),
      row_single(fails(dense("too few texts", {full()}, "s", str, {3}),
                       "Key: s.  " + cannot + "Some bytes_list slice was not parsed.")),
      row_single(fails(dense("too many texts", {full()}, "s", str, {0}),
                       "Key: s.  " + cannot + "Parsing bytes_list failed.")),
      row_single(fails(dense("a float that is cut", {raw("\x12\x02\x0d\x01")}, "a", f32, {1}),
                       "Key: a.  " + cannot + "Parsing float_list failed.")),
      row_single(fails(sparse("a number that is cut", {raw("\x1a\x02\x08\x80")}, "a", i64),
                       "Key: a.  " + cannot + "Parsing int64_list failed.")),
      row_single(fails(sparse("a text that is cut", {raw("\x0a\x03\x0a\x09\x61")}, "a", str),
                       "Key: a.  " + cannot + "Could not get num elements in bytes_list.")),
      row_single(fails(padded("half a row", {floats({1, 2, 3})}),
                       "Error while parsing feature with key a: number of elements should be "
                       "divisible by 2, found 3 instead")),
      row_single(
          fails(dense("another kind", {full()}, "a", i64, {2}),
                "Key: a.  Data types don't match. Data type: float but expected type: int64")),
      row_single(fails(dense("missing", {full()}, "z", i64, {2}),
                       "Feature: z (data type: int64) is required but could not be found.")),
      row_single(fails(dense("no message", {"garb"}, "a", f32, {2}),
                       "Could not parse example input, value: 'garb'")),
      row_single(gives(with_default(dense("another field that is cut", {"junk!!"}, "a", f32, {2}),
                                    "f32[2] -1 2"),
                       {"f32[2] -1 2"})),
      row_single(fails(keys, "len(dense_keys) != len(dense_types)")),
      vector,
      count,
  };
}

} // namespace
} // namespace troupe::testing::of_examples
