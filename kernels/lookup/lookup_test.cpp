// Tables in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("HashTable HashTableV2 MutableHashTable MutableHashTableV2",
                     "MutableHashTableOfTensors MutableHashTableOfTensorsV2",
                     "MutableDenseHashTable MutableDenseHashTableV2",
                     "InitializeTable InitializeTableV2 LookupTableFind LookupTableFindV2",
                     "LookupTableInsert LookupTableInsertV2 LookupTableRemoveV2",
                     "LookupTableImport LookupTableImportV2 LookupTableExport",
                     "LookupTableExportV2 LookupTableSize LookupTableSizeV2",
                     "InitializeTableFromTextFile InitializeTableFromTextFileV2",
                     "AnonymousHashTable AnonymousMutableHashTable",
                     "AnonymousMutableHashTableOfTensors AnonymousMutableDenseHashTable");

namespace troupe {
namespace {

using testing::GraphLines;

/// A table of strings to int64, and what is done with it; `v` is "" or "V2".
std::string table(std::string_view kind, std::string_view v, std::string_view attrs = "") {
  return str_cat("t = ", kind, v, "[key_dtype=string, value_dtype=int64", attrs, "]()\n", R"(
    keys = Const[dtype=string, value=str[2] "a" "b"]()
    values = Const[dtype=int64, value=i64[2] 1 2]()
    more = Const[dtype=int64, value=i64[2] 3 4]()
    asked = Const[dtype=string, value=str[2,2] "b" "x" "a" ""]()
    none = Const[dtype=int64, value=i64[] -1]()
    each = Const[dtype=int64, value=i64[2,2] 5 6 7 8]()
    one = Const[dtype=string, value=str[1] "b"]()
    nine = Const[dtype=int64, value=i64[1] 9]()
    init = InitializeTable)",
                 v, "(t, keys, values)\n  init_short = InitializeTable", v,
                 "(t, one, nine)\n  find = LookupTableFind", v,
                 "(t, asked, none)\n  find_each = LookupTableFind", v,
                 "(t, asked, each)\n  insert = LookupTableInsert", v,
                 "(t, keys, values)\n  change = LookupTableInsert", v,
                 "(t, one, nine)\n  import = LookupTableImport", v,
                 "(t, one, nine)\n  export = LookupTableExport", v,
                 "[Tkeys=string, Tvalues=int64](t)\n  size = LookupTableSize", v,
                 "(t)\n  wrong = LookupTableFind", v,
                 "(t, keys, text)\n  text = Const[dtype=string, value=str[] \"\"]()\n",
                 v.empty() ? "" : "  remove = LookupTableRemoveV2(t, one)\n");
}

} // namespace

TEST_CASE("tables: one that is filled once") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    GraphLines f;
    f.add(table("HashTable", v));
    CHECK(f.fails({"find"}, "Table not initialized."));
    CHECK(f.fails({"export:0"}, "HashTable is not initialized."));
    CHECK(f.run({"size"}) == "ok i64[] 0");
    CHECK(f.run({"^init"}) == "ok");
    CHECK(f.run({"find", "size"}) == "ok i64[2,2] 2 -1 1 -1 i64[] 2");
    CHECK(f.run({"^init"}) == "ok");
    CHECK(f.fails({"^init_short"}, "Table was already initialized with different data."));
    CHECK(f.run({"export:0", "export:1"}) == "ok str[2] \"a\" \"b\" i64[2] 1 2");
    CHECK(f.fails({"^insert"}, "UNIMPLEMENTED: node 'insert' (LookupTableInsert"));
    CHECK(f.fails({"find_each"}, "Expected shape [] for default value, got [2,2]"));
    CHECK(f.fails({"wrong"}, "Signature mismatch, have: "));
  }
}

TEST_CASE("tables: one key cannot have two values in a table that is filled once") {
  GraphLines f;
  f.add(R"(
    t = HashTableV2[key_dtype=string, value_dtype=int64]()
    keys = Const[dtype=string, value=str[2] "a" "a"]()
    two = Const[dtype=int64, value=i64[2] 1 2]()
    same = Const[dtype=int64, value=i64[2] 1 1]()
    three = Const[dtype=int64, value=i64[3] 1 2 3]()
    init_two = InitializeTableV2(t, keys, two)
    init_three = InitializeTableV2(t, keys, three)
    init_same = InitializeTableV2(t, keys, same)
    square = Const[dtype=string, value=str[1,2] "a" "b"]()
    init_square = InitializeTableV2(t, square, two)
    size = LookupTableSizeV2(t))");
  CHECK(f.fails({"^init_two"}, "HashTable has different value for same key. Key a has 1 and trying "
                               "to add value 2"));
  CHECK(f.fails({"^init_three"}, "Number of elements in keys and values must be equal: 2 and 3"));
  CHECK(f.fails({"^init_square"}, "Keys must be a vector, but received shape[1,2]"));
  CHECK(f.run({"^init_same"}) == "ok");
  CHECK(f.run({"size"}) == "ok i64[] 1");
}

TEST_CASE("tables: one that changes") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    GraphLines f;
    f.add(table("MutableHashTable", v));
    CHECK(f.run({"find"}) == "ok i64[2,2] -1 -1 -1 -1");
    CHECK(f.run({"^insert"}) == "ok");
    CHECK(f.run({"^change"}) == "ok");
    CHECK(f.run({"find", "find_each"}) == "ok i64[2,2] 9 -1 1 -1 i64[2,2] 9 6 1 8");
    CHECK(f.run({"export:0", "export:1"}) == "ok str[2] \"a\" \"b\" i64[2] 1 9");
    if (!v.empty()) {
      CHECK(f.run({"^remove"}) == "ok");
      CHECK(f.run({"size", "find"}) == "ok i64[] 1 i64[2,2] -1 -1 1 -1");
      CHECK(f.run({"^change"}) == "ok");
    }
    CHECK(f.run({"^import"}) == "ok");
    CHECK(f.run({"export:0", "export:1"}) == "ok str[1] \"b\" i64[1] 9");
    CHECK(f.fails({"^init"}, "INVALID_ARGUMENT"));
    CHECK(f.fails({"^init"}, " is not initializable"));
  }
}

TEST_CASE("tables: many keys of numbers, some removed and added again") {
  GraphLines f;
  f.add(R"(
    t = MutableHashTableV2[key_dtype=int64, value_dtype=float]()
    zero = Const[dtype=int32, value=i32[] 0]()
    many = Const[dtype=int32, value=i32[] 1000]()
    half = Const[dtype=int32, value=i32[] 500]()
    one = Const[dtype=int32, value=i32[] 1]()
    all = Range(zero, many, one)
    some = Range(zero, half, one)
    keys = Cast[DstT=int64](all)
    some_keys = Cast[DstT=int64](some)
    values = Cast[DstT=float](all)
    some_values = Cast[DstT=float](some)
    none = Const[dtype=float, value=f32[] -1]()
    insert = LookupTableInsertV2(t, keys, values)
    remove = LookupTableRemoveV2(t, some_keys)
    again = LookupTableInsertV2(t, some_keys, some_values)
    size = LookupTableSizeV2(t)
    find = LookupTableFindV2(t, keys, none)
    sum = Sum(find, zero))");
  CHECK(f.run({"^insert"}) == "ok");
  CHECK(f.run({"sum"}) == "ok f32[] 499500");
  CHECK(f.run({"^remove"}) == "ok");
  CHECK(f.run({"size", "sum"}) == "ok i64[] 500 f32[] 374250");
  CHECK(f.run({"^again"}) == "ok");
  CHECK(f.run({"size", "sum"}) == "ok i64[] 1000 f32[] 499500");
}

TEST_CASE("tables: values and keys that are vectors") {
  for (std::string_view v : {"", "V2"}) {
    GraphLines f;
    f.add(str_cat("t = MutableHashTableOfTensors", v,
                  "[key_dtype=string, value_dtype=int64, value_shape=[2]]()\n", R"(
      keys = Const[dtype=string, value=str[2] "a" "b"]()
      values = Const[dtype=int64, value=i64[2,2] 1 2 3 4]()
      none = Const[dtype=int64, value=i64[2] 0 -1]()
      asked = Const[dtype=string, value=str[1,2] "x" "b"]()
      insert = LookupTableInsert)",
                  v, "(t, keys, values)\n  flat = LookupTableInsert", v,
                  "(t, keys, none)\n  find = LookupTableFind", v, "(t, asked, none)"));
    CHECK(f.run({"^insert"}) == "ok");
    CHECK(f.run({"find"}) == "ok i64[1,2,2] 0 -1 3 4");
    CHECK(f.fails({"^flat"}, "Expected shape [2,2] for value, got [2]"));
  }
  GraphLines f;
  f.add(R"(
    empty = Const[dtype=int64, value=i64[2] 0 0]()
    deleted = Const[dtype=int64, value=i64[2] -1 -1]()
    t = MutableDenseHashTableV2[value_dtype=float](empty, deleted)
    keys = Const[dtype=int64, value=i64[2,2] 1 2 2 1]()
    values = Const[dtype=float, value=f32[2] 1 2]()
    none = Const[dtype=float, value=f32[] -1]()
    insert = LookupTableInsertV2(t, keys, values)
    asked = Const[dtype=int64, value=i64[2,2] 2 1 5 5]()
    find = LookupTableFindV2(t, asked, none)
    empty_row = Const[dtype=int64, value=i64[1,2] 0 0]()
    deleted_row = Const[dtype=int64, value=i64[1,2] -1 -1]()
    one_none = Const[dtype=float, value=f32[1] -1]()
    insert_empty = LookupTableInsertV2(t, empty_row, one_none)
    remove_deleted = LookupTableRemoveV2(t, deleted_row)
    find_flat = LookupTableFindV2(t, flat, none)
    flat = Const[dtype=int64, value=i64[3] 1 2 3]())");
  CHECK(f.run({"^insert"}) == "ok");
  CHECK(f.run({"find"}) == "ok f32[2] 2 -1");
  CHECK(f.fails({"^insert_empty"}, "Using the empty_key as a table key is not allowed"));
  CHECK(f.fails({"^remove_deleted"}, "Using the deleted_key as a table key is not allowed"));
  CHECK(f.fails({"find_flat"}, "Input key shape [3] must end with the table's key shape [2]"));
}

// The buckets are those of TensorFlow 2.21.
TEST_CASE("tables: a dense table gives and takes its buckets") {
  GraphLines f;
  f.add(R"(
    empty = Const[dtype=int64, value=i64[] 0]()
    deleted = Const[dtype=int64, value=i64[] -1]()
    t = MutableDenseHashTableV2[value_dtype=int64, initial_num_buckets=8](empty, deleted)
    copy = MutableDenseHashTableV2[value_dtype=int64, initial_num_buckets=4](empty, deleted)
    keys = Const[dtype=int64, value=i64[3] 3 11 19]()
    values = Const[dtype=int64, value=i64[3] 1 2 3]()
    insert = LookupTableInsertV2(t, keys, values)
    one = Const[dtype=int64, value=i64[1] 11]()
    remove = LookupTableRemoveV2(t, one)
    more_keys = Const[dtype=int64, value=i64[4] 27 4 5 6]()
    more_values = Const[dtype=int64, value=i64[4] 7 8 9 1]()
    insert_more = LookupTableInsertV2(t, more_keys, more_values)
    export = LookupTableExportV2[Tkeys=int64, Tvalues=int64](t)
    size = LookupTableSizeV2(t)
    import = LookupTableImportV2(copy, export, export:1)
    copy_size = LookupTableSizeV2(copy)
    find = LookupTableFindV2(copy, more_keys, deleted)
    flat = LookupTableImportV2(copy, keys, values)
    text = Const[dtype=string, value=str[] ""]()
    dash = Const[dtype=string, value=str[] "-"]()
    texts = MutableDenseHashTableV2[value_dtype=int64, initial_num_buckets=8](text, dash)
    letters = Const[dtype=string, value=str[3] "a" "b" "c"]()
    insert_letters = LookupTableInsertV2(texts, letters, values)
    export_texts = LookupTableExportV2[Tkeys=string, Tvalues=int64](texts)
    zeros = Const[dtype=int64, value=i64[2] 0 0]()
    ones = Const[dtype=int64, value=i64[2] -1 -1]()
    pairs = MutableDenseHashTableV2[value_dtype=int64, value_shape=[2], initial_num_buckets=4](zeros, ones)
    pair_keys = Const[dtype=int64, value=i64[2,2] 1 2 3 4]()
    pair_values = Const[dtype=int64, value=i64[2,2] 1 2 5 6]()
    insert_pairs = LookupTableInsertV2(pairs, pair_keys, pair_values)
    export_pairs = LookupTableExportV2[Tkeys=int64, Tvalues=int64](pairs))");
  CHECK(f.run({"^insert"}) == "ok");
  CHECK(f.run({"export", "export:1"}) == "ok i64[8,1] 0 0 0 3 11 0 19 0 i64[8,1] 0 0 0 1 2 0 3 0");
  CHECK(f.run({"^remove"}) == "ok");
  CHECK(f.run({"export", "export:1", "size"}) ==
        "ok i64[8,1] 0 0 0 3 -1 0 19 0 i64[8,1] 0 0 0 1 2 0 3 0 i64[] 2");
  CHECK(f.run({"^insert_more"}) == "ok");
  CHECK(f.run({"export", "export:1"}) == "ok i64[8,1] 5 0 0 3 27 4 19 6 i64[8,1] 9 0 0 1 7 8 3 1");
  CHECK(f.run({"^import"}) == "ok");
  CHECK(f.run({"copy_size", "find"}) == "ok i64[] 6 i64[4] 7 8 9 1");
  CHECK(f.fails({"^flat"}, "Input key shape [3] must end with the table's key shape [1]"));
  CHECK(f.run({"^insert_letters"}) == "ok");
  CHECK(f.run({"export_texts", "export_texts:1"}) ==
        R"(ok str[8,1] "" "" "b" "" "a" "c" "" "" i64[8,1] 0 0 2 0 1 3 0 0)");
  CHECK(f.run({"^insert_pairs"}) == "ok");
  CHECK(f.run({"export_pairs", "export_pairs:1"}) ==
        "ok i64[4,2] 3 4 0 0 0 0 1 2 i64[4,2] 5 6 0 0 0 0 1 2");
}

TEST_CASE("tables: a dense table of many keys grows, and keeps them") {
  GraphLines f;
  f.add(R"(
    empty = Const[dtype=int64, value=i64[] -1]()
    deleted = Const[dtype=int64, value=i64[] -2]()
    t = MutableDenseHashTableV2[value_dtype=int64, initial_num_buckets=4](empty, deleted)
    zero = Const[dtype=int64, value=i64[] 0]()
    many = Const[dtype=int64, value=i64[] 10000]()
    half = Const[dtype=int64, value=i64[] 5000]()
    step = Const[dtype=int64, value=i64[] 1]()
    keys = Range(zero, many, step)
    some = Range(zero, half, step)
    insert = LookupTableInsertV2(t, keys, keys)
    remove = LookupTableRemoveV2(t, some)
    size = LookupTableSizeV2(t)
    find = LookupTableFindV2(t, keys, zero)
    axis = Const[dtype=int32, value=i32[] 0]()
    sum = Sum(find, axis))");
  CHECK(f.run({"^insert"}) == "ok");
  CHECK(f.run({"size", "sum"}) == "ok i64[] 10000 i64[] 49995000");
  CHECK(f.run({"^remove"}) == "ok");
  CHECK(f.run({"size", "sum"}) == "ok i64[] 5000 i64[] 37497500");
}

TEST_CASE("tables: what makes no table") {
  GraphLines f;
  f.add(R"(
    a = Const[dtype=int64, value=i64[] 1]()
    b = Const[dtype=int64, value=i64[] 2]()
    pair = Const[dtype=int64, value=i64[2] 1 2]()
    old = MutableDenseHashTable[value_dtype=int64](a)
    size = LookupTableSize(old)
    equal = MutableDenseHashTableV2[value_dtype=int64](a, a)
    shapes = MutableDenseHashTableV2[value_dtype=int64](a, pair)
    buckets = MutableDenseHashTableV2[value_dtype=int64, initial_num_buckets=12](a, b)
    load = MutableDenseHashTableV2[value_dtype=int64, max_load_factor=1.5](a, b)
    open = MutableHashTableOfTensorsV2[key_dtype=int64, value_dtype=int64, value_shape=[?]]()
    square = MutableHashTableOfTensorsV2[key_dtype=int64, value_dtype=int64, value_shape=[1,1]]()
    first = HashTableV2[key_dtype=int64, value_dtype=int64, shared_name="s"]()
    kind = MutableHashTableV2[key_dtype=int64, value_dtype=int64, shared_name="s"]() ^first
    dtype = HashTableV2[key_dtype=int64, value_dtype=float, shared_name="s"]() ^first)");
  CHECK(f.run({"size"}) == "ok i64[] 0");
  CHECK(f.fails({"^equal"}, "Empty and deleted keys cannot be equal"));
  CHECK(
      f.fails({"^shapes"}, "Empty and deleted keys must have same shapes, got shapes: [] and [2]"));
  CHECK(f.fails({"^buckets"}, "Number of buckets must be at least 4 and a power of 2, got: 12"));
  CHECK(f.fails({"^load"}, "max_load_factor must be between 0 and 1, got: 1.5"));
  CHECK(f.fails({"^open"}, "the shape of a table's values must be known"));
  CHECK(f.fails({"^square"}, "Default value must be a vector, got shape [1,1]"));
  CHECK(f.fails({"^kind"}, "table 's' is a HashTable, not a MutableHashTable"));
  CHECK(f.fails({"^dtype"}, "Conflicting key/value dtypes int64->float with int64->int64"));
}

} // namespace troupe
