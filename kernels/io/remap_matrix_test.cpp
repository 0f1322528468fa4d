#include <doctest/doctest.h>

#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("LoadAndRemapMatrix");

namespace troupe {
namespace {

using testing::FolderLines;

/// A checkpoint of a matrix m[4,3], a vector and a matrix of integers; `m` in slices if so wanted.
std::string saved(bool in_slices) {
  return str_cat(R"(
    prefix = Const[dtype=string, value=str[] "@/c"]()
    names = Const[dtype=string, value=str[4] "m" "m" "v" "i"]()
    specs = Const[dtype=string, value=str[4] "4 3 0,2:-" "4 3 2,2:-" "" ""]()
    whole_names = Const[dtype=string, value=str[3] "m" "v" "i"]()
    whole_specs = Const[dtype=string, value=str[3] "" "" ""]()
    top = Const[dtype=float, value=f32[2,3] 0 1 2 10 11 12]()
    low = Const[dtype=float, value=f32[2,3] 20 21 22 30 31 32]()
    m = Const[dtype=float, value=f32[4,3] 0 1 2 10 11 12 20 21 22 30 31 32]()
    v = Const[dtype=float, value=f32[2] 1 2]()
    i = Const[dtype=int32, value=i32[1,1] 1]()
    name = Const[dtype=string, value=str[] "m"]()
    name_v = Const[dtype=string, value=str[] "v"]()
    name_i = Const[dtype=string, value=str[] "i"]()
    name_none = Const[dtype=string, value=str[] "none"]()
    keep = Const[dtype=int64, value=i64[0]]()
    no_values = Const[dtype=float, value=f32[0]]()
)",
                 in_slices ? "save = SaveV2(prefix, names, specs, top, low, v, i)\n"
                           : "save = SaveV2(prefix, whole_names, whole_specs, m, v, i)\n");
}

} // namespace

TEST_CASE("io: a matrix of a checkpoint, its rows and columns in another order") {
  for (bool in_slices : {false, true})
    for (int most_rows : {-1, 1, 3, 100}) {
      CAPTURE(in_slices);
      CAPTURE(most_rows);
      FolderLines f;
      f.add(saved(in_slices));
      const std::string rows = str_cat(", max_rows_in_memory=", most_rows);
      f.add(str_cat("swap = Const[dtype=int64, value=i64[2] 3 0]()\n",
                    "some = Const[dtype=int64, value=i64[3] 2 -1 1]()\n",
                    "new_columns = Const[dtype=int64, value=i64[2] 2 -1]()\n",
                    "values = Const[dtype=float, value=f32[4] 7 8 9 6]()\n",
                    "three = Const[dtype=float, value=f32[3] 7 8 9]()\n",
                    "rows = LoadAndRemapMatrix[num_rows=2, num_cols=3", rows,
                    "](prefix, name, swap, keep, no_values)\n",
                    "filled = LoadAndRemapMatrix[num_rows=3, num_cols=3", rows,
                    "](prefix, name, some, keep, three)\n",
                    "both = LoadAndRemapMatrix[num_rows=3, num_cols=2", rows,
                    "](prefix, name, some, new_columns, values)"));
      CHECK(f.run({"^save"}) == "ok");
      CHECK(f.run({"rows"}) == "ok f32[2,3] 30 31 32 0 1 2");
      CHECK(f.run({"filled"}) == "ok f32[3,3] 20 21 22 7 8 9 10 11 12");
      CHECK(f.run({"both"}) == "ok f32[3,2] 22 7 8 9 12 6");
    }
}

TEST_CASE("io: matrices that cannot be put into another order") {
  FolderLines f;
  f.add(saved(false));
  f.add(R"(
    one = Const[dtype=int64, value=i64[1] 0]()
    nobody = Const[dtype=int64, value=i64[1] -1]()
    twice = Const[dtype=int64, value=i64[2] 1 1]()
    far = Const[dtype=int64, value=i64[1] 4]()
    value = Const[dtype=float, value=f32[1] 7]()
    flat = Const[dtype=int64, value=i64[] 0]()
    size = LoadAndRemapMatrix[num_rows=2, num_cols=3](prefix, name, one, keep, no_values)
    columns = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, one, one, no_values)
    same = LoadAndRemapMatrix[num_rows=2, num_cols=3](prefix, name, twice, keep, no_values)
    width = LoadAndRemapMatrix[num_rows=1, num_cols=2](prefix, name, one, keep, no_values)
    beyond = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, far, keep, no_values)
    vector = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name_v, one, keep, no_values)
    dtype = LoadAndRemapMatrix[num_rows=1, num_cols=1](prefix, name_i, one, keep, no_values)
    none = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name_none, one, keep, no_values)
    few = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, nobody, keep, value)
    many = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, one, keep, value)
    two = LoadAndRemapMatrix[num_rows=1, num_cols=3](whole_names, name, one, keep, no_values)
    square = Const[dtype=int64, value=i64[1,1] 0]()
    scalar = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, flat, keep, no_values)
    matrix = LoadAndRemapMatrix[num_rows=1, num_cols=3](prefix, name, square, square, no_values)
    matrix_columns = LoadAndRemapMatrix[num_rows=1, num_cols=1](prefix, name, one, square, no_values))");
  f.fails({"size"}, "Size of row_remapping is 1 instead of being equal to num_rows=2");
  f.fails({"columns"}, "Provided col_remapping, but its size is 1 instead of being equal to "
                       "num_cols=3");
  f.fails({"same"},
          "UNIMPLEMENTED: node 'same' (LoadAndRemapMatrix): Old ID 1 is mapped to both new "
          "ID 0 and 1, which is not supported.");
  f.fails({"two"}, "The `ckpt_path` tensor must have exactly one element, got tensor of shape [3]");
  f.fails({"scalar"}, "The `row_remapping` tensor must be 1-D, got a tensor of shape []");
  f.fails({"matrix"}, "The `row_remapping` tensor must be 1-D, got a tensor of shape [1,1]");
  f.fails({"matrix_columns"},
          "The `col_remapping` tensor must be 1-D, got a tensor of shape [1,1]");
  f.fails({"many"}, "NOT_FOUND: node 'many' (LoadAndRemapMatrix): @/c.index; No such file or "
                    "directory");
  CHECK(f.run({"^save"}) == "ok");
  f.fails({"width"},
          "Tensor m has shape [4,3], where the size of its 2nd dimension is 3 instead of "
          "being equal to num_cols=2");
  f.fails({"beyond"}, "out of bounds");
  f.fails({"vector"},
          "Tensor v has shape [2] of invalid rank 1 instead of expected shape of rank 2.");
  f.fails({"dtype"}, "Tensor i has invalid type int32 instead of expected type float");
  f.fails({"none"}, "Key none not found in checkpoint");
  f.fails({"few"}, "initializing_values contained 1 elements, but more missing values remain.");
  f.fails({"many"},
          "initializing_values contained 1 elements, but only 0 elements were used to fill "
          "in missing values.");
}

} // namespace troupe
