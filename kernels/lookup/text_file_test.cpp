// Tables that are filled from text files, and tables that last for one step.
#include <doctest/doctest.h>

#include "devices/resource/lookup_table.hpp"
#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using testing::FolderLines;

/// What a table has after it was filled from a file with that content, or the error.
std::string filled(std::string_view content, std::string_view attrs,
                   std::string_view key = "string", std::string_view value = "int64",
                   std::string_view v = "V2") {
  FolderLines f;
  f.write("v", content);
  f.add(str_cat("t = HashTable", v, "[key_dtype=", key, ", value_dtype=", value, "]()\n",
                "file = Const[dtype=string, value=str[] \"@/v\"]()\n",
                "init = InitializeTableFromTextFile", v, "[", attrs,
                "](t, file)\n export = LookupTableExport", v, "[Tkeys=", key, ", Tvalues=", value,
                "](t)"));
  const std::string init = f.run({"^init"});
  return init == "ok" ? f.run({"export:0", "export:1"}) : init.substr(init.find("): ") + 3);
}

constexpr auto lines_to_numbers = "key_index=-2, value_index=-1";
constexpr auto columns = "key_index=0, value_index=1";

} // namespace

TEST_CASE("tables from files: lines and their numbers, in both forms") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    const auto of = [&](std::string_view content, std::string_view attrs,
                        std::string_view key = "string", std::string_view value = "int64") {
      return filled(content, attrs, key, value, v);
    };
    const std::string three = R"(ok str[3] "a" "b" "c" i64[3] 0 1 2)";
    CHECK(of("a\nb\nc\n", lines_to_numbers) == three);
    CHECK(of("a\nb\nc", lines_to_numbers) == three);
    CHECK(of("a\r\nb\r\nc\r\n", lines_to_numbers) == three);
    CHECK(of("a\nb\nc\n", "key_index=-2, value_index=-1, offset=5") ==
          R"(ok str[3] "a" "b" "c" i64[3] 5 6 7)");
    CHECK(of("a\nb\nc\n", "key_index=-2, value_index=-1, vocab_size=2") ==
          R"(ok str[2] "a" "b" i64[2] 0 1)");
    CHECK(of("a\nb\n", "key_index=-1, value_index=-2", "int64", "string") ==
          R"(ok i64[2] 0 1 str[2] "a" "b")");
    CHECK(of("5\n-6\n", lines_to_numbers, "int64") == "ok i64[2] 5 -6 i64[2] 0 1");
  }
}

TEST_CASE("tables from files: columns of every dtype") {
  CHECK(filled("a\t1\nb\t2\n", columns) == R"(ok str[2] "a" "b" i64[2] 1 2)");
  CHECK(filled("a 1\n", "key_index=0, value_index=1, delimiter=\" \"") ==
        R"(ok str[1] "a" i64[1] 1)");
  CHECK(filled("a\tb\tc\n", "key_index=2, value_index=0", "string", "string") ==
        R"(ok str[1] "c" str[1] "a")");
  CHECK(filled("\tx\n", columns, "string", "string") == R"(ok str[1] "" str[1] "x")");
  CHECK(filled("a\t1.5\n", columns, "string", "float") == R"(ok str[1] "a" f32[1] 1.5)");
  CHECK(filled("a\t1\n", columns, "string", "double") == R"(ok str[1] "a" f64[1] 1)");
  CHECK(filled("a\t 7 \n", columns, "string", "int32") == R"(ok str[1] "a" i32[1] 7)");
  CHECK(filled("a\t7\n", "key_index=0, value_index=1, offset=3", "string", "int32") ==
        R"(ok str[1] "a" i32[1] 10)");
  CHECK(filled("a\t7\n", "key_index=0, value_index=1, offset=3") == R"(ok str[1] "a" i64[1] 7)");
  CHECK(filled("a\t1\na\t1\n", columns) == R"(ok str[1] "a" i64[1] 1)");
}

TEST_CASE("tables from files: what cannot be a table, in TensorFlow's words") {
  CHECK(filled("", lines_to_numbers).ends_with("Read less bytes than requested"));
  CHECK(filled("\n", lines_to_numbers) ==
        "Invalid content in @/v: empty line found at position 1.");
  CHECK(filled("a\n\nb\n", lines_to_numbers) ==
        "Invalid content in @/v: empty line found at position 3.");
  CHECK(filled("a\nb\n", "key_index=-2, value_index=-1, vocab_size=3") ==
        "Invalid vocab_size in @/v: expected 3 but got 2");
  CHECK(filled("a\n", "key_index=-2, value_index=-1, vocab_size=0") ==
        "Finished reading 0 of lines from @/v");
  CHECK(filled("", "key_index=-2, value_index=-1, vocab_size=0")
            .ends_with("Read less bytes than requested"));
  CHECK(filled("a\t1\nb\n", columns) ==
        "Invalid number of columns in @/v line 1 (b) : expected at least 2 got 1");
  CHECK(filled("a\tx\n", columns) == "Field x in line 0 is not a valid int64.");
  CHECK(filled("a\tx\n", columns, "string", "int32") == "Field x in line 0 is not a valid int32.");
  CHECK(filled("a\tx\n", columns, "string", "float") == "Field x in line 0 is not a valid float.");
  CHECK(filled("a\tx\n", columns, "string", "double") ==
        "Field x in line 0 is not a valid double.");
  CHECK(filled("a\t1\n", columns, "string", "bool") == "Data type bool not supported.");
  CHECK(filled("a\na\n", lines_to_numbers) ==
        "HashTable has different value for same key. Key a has 0 and trying to add value 1");
  CHECK(filled("a\n", "key_index=-1, value_index=-2", "int32", "string") ==
        "Key index for line number requires table key dtype of int64, got int32");
  CHECK(filled("a\n", "key_index=-2, value_index=-1", "float") ==
        "Key index for whole line requires string or integer table key, got float");
  CHECK(filled("a\n", lines_to_numbers, "string", "int32") ==
        "Value index for line number requires table value dtype of int64, got int32");
  CHECK(filled("a\n", "key_index=-2, value_index=-2", "string", "float") ==
        "Value index for whole line requires table value dtype of integer or string, got float");
  CHECK(filled("a\n", "key_index=-2, value_index=-1, delimiter=\"ab\"") ==
        "delimiter should be only 1 char");
  CHECK(filled("a\n", "key_index=-2, value_index=-1, delimiter=\"\"") ==
        "delimiter should be only 1 char");
}

TEST_CASE("tables from files: a table that is filled stays as it is") {
  FolderLines f;
  f.write("a", "a\nb\n");
  f.write("b", "c\n");
  f.write("void", "");
  f.add(R"(
    t = HashTableV2[key_dtype=string, value_dtype=int64]()
    a = Const[dtype=string, value=str[] "@/a"]()
    b = Const[dtype=string, value=str[] "@/b"]()
    none = Const[dtype=string, value=str[] "@/none"]()
    two = Const[dtype=string, value=str[2] "@/a" "@/b"]()
    empty = Const[dtype=string, value=str[] ""]()
    outside = Const[dtype=string, value=str[] "/etc/hostname"]()
    init_a = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, a)
    init_b = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, b)
    init_none = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, none)
    init_two = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, two)
    init_empty = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, empty)
    init_outside = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](t, outside)
    m = MutableHashTableV2[key_dtype=string, value_dtype=int64]()
    void = Const[dtype=string, value=str[] "@/void"]()
    init_void = InitializeTableFromTextFileV2[key_index=-2, value_index=-1, vocab_size=1](t, void)
    init_m = InitializeTableFromTextFileV2[key_index=-2, value_index=-1](m, a)
    size = LookupTableSizeV2(t))");
  f.fails({"^init_none"}, "NOT_FOUND: node 'init_none' (InitializeTableFromTextFileV2): @/none; No "
                          "such file or directory");
  f.fails({"^init_two"}, "filename should be a single string, but got [2]");
  f.fails({"^init_empty"}, "filename cannot be empty.");
  f.fails({"^init_outside"}, "PERMISSION_DENIED");
  f.fails({"^init_m"}, " is not initializable: it is a MutableHashTable");
  CHECK(f.run({"size"}) == "ok i64[] 0");
  CHECK(f.run({"^init_a"}) == "ok");
  CHECK(f.run({"^init_a"}) == "ok");
  CHECK(f.run({"^init_b"}) == "ok");
  f.fails({"^init_void"}, "Invalid vocab_size in @/void: expected 1 but got 0");
  CHECK(f.run({"size"}) == "ok i64[] 2");
}

TEST_CASE("tables of one step: each run makes another one, which its step's end takes away") {
  testing::GraphLines f;
  f.add(R"(
    one = AnonymousHashTable[key_dtype=string, value_dtype=int64]()
    keys = Const[dtype=string, value=str[2] "a" "b"]()
    values = Const[dtype=int64, value=i64[2] 1 2]()
    init = InitializeTableV2(one, keys, values)
    size = LookupTableSizeV2(one) ^init
    changing = AnonymousMutableHashTable[key_dtype=string, value_dtype=int64]()
    insert = LookupTableInsertV2(changing, keys, values)
    changed_size = LookupTableSizeV2(changing) ^insert
    rows = Const[dtype=int64, value=i64[2,2] 1 2 3 4]()
    vectors = AnonymousMutableHashTableOfTensors[key_dtype=string, value_dtype=int64, value_shape=[2]]()
    insert_rows = LookupTableInsertV2(vectors, keys, rows)
    none = Const[dtype=int64, value=i64[2] 0 0]()
    found = LookupTableFindV2(vectors, keys, none) ^insert_rows
    empty = Const[dtype=string, value=str[] ""]()
    deleted = Const[dtype=string, value=str[] "-"]()
    dense = AnonymousMutableDenseHashTable[value_dtype=int64](empty, deleted)
    insert_dense = LookupTableInsertV2(dense, keys, values)
    dense_size = LookupTableSizeV2(dense) ^insert_dense)");
  CHECK(f.run({"size", "changed_size", "dense_size"}) == "ok i64[] 2 i64[] 2 i64[] 2");
  CHECK(f.run({"found"}) == "ok i64[2,2] 1 2 3 4");
  CHECK(f.run({"size"}) == "ok i64[] 2");
  ResourceManager& device = f.interpreter.device().device().resources();
  CHECK(device.list().size() == 5);
  f.interpreter.device().step().step_resources->clear();
  CHECK(device.list().empty());
}

} // namespace troupe
