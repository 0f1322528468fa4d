// Save, SaveSlices, Restore, RestoreSlice in graphs; and RestoreV2 of what they wrote. The format
// is storage/checkpoint/checkpoint_v1_test.cpp's.
#include <doctest/doctest.h>

#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("Save SaveSlices Restore RestoreSlice");

namespace troupe {
namespace {

using testing::FolderLines;

constexpr auto lines = R"(
    file = Const[dtype=string, value=str[] "@/c"]()
    two_files = Const[dtype=string, value=str[2] "@/c" "@/d"]()
    names = Const[dtype=string, value=str[2] "w" "s"]()
    one_name = Const[dtype=string, value=str[1] "w"]()
    name_w = Const[dtype=string, value=str[] "w"]()
    name_s = Const[dtype=string, value=str[] "s"]()
    name_none = Const[dtype=string, value=str[] "none"]()
    no_names = Const[dtype=string, value=str[0]]()
    w = Const[dtype=float, value=f32[2,2] 1 2 3 4]()
    s = Const[dtype=string, value=str[1] "text"]()
    save = Save(file, names, w, s)
    restore_w = Restore[dt=float](file, name_w)
    restore_s = Restore[dt=string](file, name_s)
    none = Restore[dt=float](file, name_none)
    wrong = Restore[dt=int32](file, name_w)
    unnamed = Restore[dt=int32](file, no_names)
    of_two = Restore[dt=int32](two_files, name_w)
    preferred = Restore[dt=float, preferred_shard=-2](file, name_w)
    column = Const[dtype=string, value=str[] "2 2 -:1,1"]()
    wide = Const[dtype=string, value=str[] "2 3 -:1,1"]()
    all = Const[dtype=string, value=str[] ""]()
    slice = RestoreSlice[dt=float](file, name_w, column)
    slice_all = RestoreSlice[dt=float](file, name_w, all)
    slice_wide = RestoreSlice[dt=float](file, name_w, wide)
    short = Save(file, one_name, w, s)
    same_names = Const[dtype=string, value=str[2] "w" "w"]()
    twice = Const[dtype=string, value=str[] "@/twice"]()
    save_twice = Save(twice, same_names, w, w)
    to_two = Save(two_files, names, w, s)
    variants = TensorListReserve[element_dtype=float, shape_type=int32](minus, zero)
    zero = Const[dtype=int32, value=i32[] 0]()
    minus = Const[dtype=int32, value=i32[] -1]()
    save_variants = Save(file, one_name, variants)
)";

} // namespace

TEST_CASE("io: the first format, whole tensors and slices of them") {
  FolderLines f;
  f.add(lines);
  f.fails({"restore_w"}, "NOT_FOUND: node 'restore_w' (Restore): Unsuccessful TensorSliceReader "
                         "constructor: Failed to find any matching files for @/c");
  CHECK(f.run({"^save"}) == "ok");
  CHECK(f.run({"restore_w", "restore_s"}) == "ok f32[2,2] 1 2 3 4 str[1] \"text\"");
  CHECK(f.run({"slice", "slice_all"}) == "ok f32[2,1] 2 4 f32[2,2] 1 2 3 4");
  f.fails({"none"},
          "NOT_FOUND: node 'none' (Restore): Tensor name \"none\" not found in checkpoint "
          "files @/c");
  f.fails({"wrong"}, "Expected to restore a tensor of type int32, got a tensor of type float "
                     "instead: tensor_name = w");
  f.fails({"slice_wide"},
          "Shape in shape_and_slice spec does not match the shape in the save file: "
          "[2,3], save file shape: [2,2]");
  f.fails({"unnamed"}, "Input 1 (tensor_name) must be a have at least 1 elements");
  f.fails({"of_two"}, "Input 0 (file_pattern) must be a string scalar; got a tensor of 2 elements");
  f.fails({"preferred"}, "Attribute 'preferred_shard' must be greater or equal to -1");
  f.fails({"^short"}, "Expected totally 3 inputs as input #1 (which is a string tensor of saved "
                      "names) contains 1 names, but received 4 inputs");
  f.fails({"^to_two"}, "Input 0 (filename) must be a string scalar; got a tensor of 2 elements");
  f.fails({"^save_variants"}, "Saving data type variant not yet supported");
  CHECK(f.run({"restore_w"}) == "ok f32[2,2] 1 2 3 4"); // none of them changed it
  f.fails({"^save_twice"}, "ALREADY_EXISTS: node 'save_twice' (Save): Adding duplicate key: w -:-");
}

TEST_CASE("io: slices in several files, found by a pattern") {
  FolderLines f;
  f.add(R"(
    names = Const[dtype=string, value=str[1] "v"]()
    name = Const[dtype=string, value=str[] "v"]()
    first = Const[dtype=string, value=str[] "@/c-00000-of-00002"]()
    second = Const[dtype=string, value=str[] "@/c-00001-of-00002"]()
    pattern = Const[dtype=string, value=str[] "@/c-?????-of-00002"]()
    left = Const[dtype=string, value=str[1] "2 3 -:0,2"]()
    right = Const[dtype=string, value=str[1] "2 3 -:2,1"]()
    row = Const[dtype=string, value=str[] "2 3 1,1:-"]()
    many = Const[dtype=string, value=str[2] "2 3 -:2,1" ""]()
    a = Const[dtype=int64, value=i64[2,2] 0 1 3 4]()
    b = Const[dtype=int64, value=i64[2,1] 2 5]()
    save_left = SaveSlices(first, names, left, a)
    save_right = SaveSlices(second, names, right, b)
    wrong = SaveSlices(second, names, left, b)
    too_many = SaveSlices(second, names, many, b)
    whole = Restore[dt=int64](pattern, name)
    second_first = Restore[dt=int64, preferred_shard=1](pattern, name)
    part = RestoreSlice[dt=int64](pattern, name, row)
    half = Restore[dt=int64](first, name))");
  CHECK(f.run({"^save_left"}) == "ok");
  CHECK(f.run({"^save_right"}) == "ok");
  CHECK(f.run({"whole", "part"}) == "ok i64[2,3] 0 1 2 3 4 5 i64[1,3] 3 4 5");
  CHECK(f.run({"second_first"}) == "ok i64[2,3] 0 1 2 3 4 5");
  f.fails({"half"}, "INVALID_ARGUMENT: node 'half' (Restore): Error copying slice data");
  f.fails({"^wrong"}, "Slice in shape_and_slice specification does not match the shape of the "
                      "tensor to  save: 2 3 -:0,2, tensor: [2,1]");
  f.fails({"^too_many"}, "Expected 1 elements for the tensor shapes and slices but got 2");
}

TEST_CASE("io: RestoreV2 reads the first format too") {
  FolderLines f;
  f.add(lines);
  f.add(R"(
    specs = Const[dtype=string, value=str[2] "2 2 -:1,1" ""]()
    v2 = RestoreV2[dtypes=[float, string]](file, names, specs)
    wrong_v2 = RestoreV2[dtypes=[float, int32]](file, names, specs))");
  f.fails({"v2:0"}, "NOT_FOUND: node 'v2' (RestoreV2): Unsuccessful TensorSliceReader constructor: "
                    "Failed to find any matching files for @/c");
  CHECK(f.run({"^save"}) == "ok");
  CHECK(f.run({"v2:0", "v2:1"}) == "ok f32[2,1] 2 4 str[1] \"text\"");
  f.fails({"wrong_v2:0"}, "Expected to restore a tensor of type int32, got a tensor of type string "
                          "instead: tensor_name = s");
}

TEST_CASE("io: the first format sees only the allowed folders") {
  FolderLines f;
  f.add(R"(
    names = Const[dtype=string, value=str[1] "w"]()
    name = Const[dtype=string, value=str[] "w"]()
    w = Const[dtype=float, value=f32[] 1]()
    outside = Const[dtype=string, value=str[] "/tmp/troupe-none"]()
    above = Const[dtype=string, value=str[] "@/../c"]()
    save = Save(outside, names, w)
    save_above = Save(above, names, w)
    restore = Restore[dt=float](outside, name)
    restore_above = Restore[dt=float](above, name))");
  for (const char* fetch : {"^save", "^save_above", "restore", "restore_above"})
    f.fails({fetch}, "PERMISSION_DENIED");
}

} // namespace troupe
