// Sparse tensors as messages and variants, and in maps; messages are those of TensorFlow 2.21.
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace tensors_map_ops {
TROUPE_OPS_IN_GRAPHS("AddManySparseToTensorsMap AddSparseToTensorsMap",
                     "TakeManySparseFromTensorsMap");
} // namespace tensors_map_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;
using Texts = std::vector<std::string>;

Texts texts(const std::vector<Tensor>& tensors) {
  Texts out;
  for (const Tensor& tensor : tensors)
    out.push_back(to_literal(tensor));
  return out;
}

const Texts batch{"i64[3,2] 0 1 2 0 2 2", "i32[3] 7 8 9", "i64[2] 3 4"};

std::vector<Tensor> tensors(const Texts& parts) {
  std::vector<Tensor> out;
  for (const std::string& part : parts)
    out.push_back(lit(part));
  return out;
}

TEST_CASE_FIXTURE(OpRunner, "serialized sparse tensors: variants come back") {
  const Attrs to{{"out_type", DType::variant}}, from{{"dtype", DType::int32}};
  const Tensor one = run("SerializeSparse", tensors(batch), to);
  CHECK(one.shape() == Shape{3});
  CHECK(texts(run_all("DeserializeSparse", {one}, from)) == batch);
  const Tensor many = run("SerializeManySparse", tensors(batch), to);
  CHECK(many.shape() == Shape{3, 3});
  CHECK(texts(run_all("DeserializeSparse", {many}, from)) == batch);
  CHECK(texts(run_all("DeserializeSparse", {many.reshaped(Shape{1, 3, 3})}, from)) ==
        Texts{"i64[3,3] 0 0 1 0 2 0 0 2 2", batch[1], "i64[3] 1 3 4"});
  CHECK(error("DeserializeSparse", {Tensor::make(DType::variant, Shape{3})}, from) ==
        "Could not get a tensor from serialized_sparse[0, 0]");
}

TEST_CASE_FIXTURE(OpRunner, "maps of sparse tensors: what was added is taken once") {
  const Attrs from{{"dtype", DType::int32}};
  const Tensor handles = run("AddManySparseToTensorsMap", tensors(batch));
  CHECK(to_literal(handles) == "i64[3] 0 1 2");
  CHECK(text("AddSparseToTensorsMap", tensors({"i64[1,1] 5", "i32[1] 6", "i64[1] 7"})) ==
        "i64[] 3");
  CHECK(error("TakeManySparseFromTensorsMap", {lit("i64[2] 0 4")}, from)
            .starts_with("Unable to find SparseTensor: 4 in map: "));
  CHECK(error("TakeManySparseFromTensorsMap", {lit("i64[2] 0 0")}, from)
            .starts_with("Unable to find SparseTensor: 0 in map: "));
  CHECK(error("TakeManySparseFromTensorsMap", {lit("i64[0]")}, from)
            .starts_with("Must have at least 1 serialized SparseTensor"));
  CHECK(texts(run_all("TakeManySparseFromTensorsMap", {lit("i64[3] 2 3 0")}, from)) ==
        Texts{"i64[4,2] 0 0 0 2 1 5 2 1", "i32[4] 8 9 6 7", "i64[2] 3 7"});
  CHECK(error("TakeManySparseFromTensorsMap", {lit("i64[1] 2")}, from)
            .starts_with("Unable to find SparseTensor: 2 in map: "));
}

TEST_CASE_FIXTURE(OpRunner, "maps of sparse tensors: dtypes and ranks are checked") {
  run("AddSparseToTensorsMap", tensors({"i64[1,1] 5", "i32[1] 6", "i64[1] 7"}));
  run("AddSparseToTensorsMap", tensors(batch));
  CHECK(error("TakeManySparseFromTensorsMap", {lit("i64[2] 0 1")}, {{"dtype", DType::int32}}) ==
        "Inconsistent rank across SparseTensors: rank prior to SparseTensor[1] was: 2 but rank of "
        "SparseTensor[1] is: 3");
  CHECK(error("AddSparseToTensorsMap", tensors({"i64[1,1] 5", "i32[2] 6 6", "i64[1] 7"})) ==
        "Number of elements in indices (1) and values (2) do not match");
}

TROUPE_OP_CASES(SerializeSparse) {
  return {
      {
          .name = "numbers",
          .inputs = {"i64[3,2] 0 1 2 0 2 2", "i32[3] 7 8 9", "i64[2] 3 4"},
          .outputs =
              {"str[3] "
               "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x03\\x12\\x02\\x08\\x02\\x220\\x00\\x00\\x00"
               "\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x"
               "00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00"
               "\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" "
               "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x03\\x22\\x0c\\x07\\x00\\x00\\x00\\x08\\x00"
               "\\x00\\x00\\x09\\x00\\x00\\x00\" "
               "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x02\\x22\\x10\\x03\\x00\\x00\\x00\\x00\\x00"
               "\\x00\\x00\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x00\""},
      },
      {
          .name = "text; TensorFlow writes it another way, which is read, too",
          .inputs = {"i64[1,1] 1", "str[1] \"ab\"", "i64[1] 4"},
          .outputs = {"?"},
      },
  };
}

TROUPE_OP_CASES(SerializeManySparse) {
  return {
      {
          .name = "rows, one of them empty",
          .inputs = {"i64[3,2] 0 1 2 0 2 2", "i32[3] 7 8 9", "i64[2] 3 4"},
          .outputs =
              {"str[3,3] "
               "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x01\\x12\\x02\\x08\\x01\\x22\\x08\\x01\\x00"
               "\\x00\\x00\\x00\\x00\\x00\\x00\" "
               "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x04\\x07\\x00\\x00\\x00\" "
               "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x00"
               "\\x00\\x00\" \"\\x08\\x09\\x12\\x06\\x12\\x00\\x12\\x02\\x08\\x01\" "
               "\"\\x08\\x03\\x12\\x02\\x12\\x00\" "
               "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x00"
               "\\x00\\x00\" "
               "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x02\\x12\\x02\\x08\\x01\\x22\\x10\\x00\\x00"
               "\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" "
               "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x02\\x22\\x08\\x08\\x00\\x00\\x00\\x09\\x00"
               "\\x00\\x00\" "
               "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x00"
               "\\x00\\x00\""},
      },
      {
          .name = "no rows",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 0 4"},
          .outputs = {"str[0,3]"},
      },
      {
          .name = "rank 1",
          .inputs = {"i64[1,1] 1", "f32[1] 1", "i64[1] 4"},
          .error = "Rank of input SparseTensor should be > 1, but saw rank: 1",
      },
      {
          .name = "entries out of order",
          .inputs = {"i64[2,2] 1 0 0 0", "f32[2] 1 2", "i64[2] 2 2"},
          .error = "indices[1] = [0,0] is out of order",
      },
      {
          .name = "an index outside",
          .inputs = {"i64[1,2] 5 0", "f32[1] 1", "i64[2] 2 2"},
          .error = "out of bounds",
      },
  };
}

TROUPE_OP_CASES(DeserializeSparse) {
  return {
      {.name = "messages that TensorFlow wrote",
       .inputs = {"str[3,3] "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x01\\x12\\x02\\x08\\x01\\x22\\x08\\x01\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x04\\x07\\x00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\" \"\\x08\\x09\\x12\\x06\\x12\\x00\\x12\\x02\\x08\\x01\" "
                  "\"\\x08\\x03\\x12\\x02\\x12\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x02\\x12\\x02\\x08\\x01\\x22\\x10\\x00\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x02\\x22\\x08\\x08\\x00\\x00\\x00\\x09\\x"
                  "00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\""},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i64[3,2] 0 1 2 0 2 2", "i32[3] 7 8 9", "i64[2] 3 4"}},
      {.name = "one tensor",
       .inputs = {"str[3] "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x01\\x12\\x02\\x08\\x01\\x22\\x08\\x01\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x03\\x02ab\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\""},
       .attrs = {{"dtype", DType::string}},
       .outputs = {"i64[1,1] 1", "str[1] \"ab\"", "i64[1] 4"}},
      {.name = "no messages",
       .inputs = {"str[0,3]"},
       .attrs = {{"dtype", DType::int32}},
       .error = "Serialized sparse should have at least 1 serialized tensor"},
      {.name = "two columns",
       .inputs = {"str[1,2] \"\" \"\""},
       .attrs = {{"dtype", DType::int32}},
       .error = "3"},
      {.name = "a scalar",
       .inputs = {"str[] \"\""},
       .attrs = {{"dtype", DType::int32}},
       .error = "Serialized sparse should have non-zero rank"},
      {.name = "no message",
       .inputs = {"str[3] \"abc\" \"\" \"\""},
       .attrs = {{"dtype", DType::int32}},
       .error = "Could not parse"},
      {.name = "another dtype",
       .inputs = {"str[3] "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x01\\x12\\x02\\x08\\x01\\x22\\x08\\x01\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x03\\x02ab\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\""},
       .attrs = {{"dtype", DType::float32}},
       .error =
           "Requested SparseTensor of type float but SparseTensor[0].values.dtype() == string"},
  };
}

TROUPE_OP_CASES(DeserializeManySparse) {
  return {
      {.name = "rows",
       .inputs = {"str[3,3] "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x01\\x12\\x02\\x08\\x01\\x22\\x08\\x01\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x04\\x07\\x00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\" \"\\x08\\x09\\x12\\x06\\x12\\x00\\x12\\x02\\x08\\x01\" "
                  "\"\\x08\\x03\\x12\\x02\\x12\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x08\\x12\\x02\\x08\\x02\\x12\\x02\\x08\\x01\\x22\\x10\\x00\\x"
                  "00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" "
                  "\"\\x08\\x03\\x12\\x04\\x12\\x02\\x08\\x02\\x22\\x08\\x08\\x00\\x00\\x00\\x09\\x"
                  "00\\x00\\x00\" "
                  "\"\\x08\\x09\\x12\\x04\\x12\\x02\\x08\\x01\\x22\\x08\\x04\\x00\\x00\\x00\\x00\\x"
                  "00\\x00\\x00\""},
       .attrs = {{"dtype", DType::int32}},
       .outputs = {"i64[3,2] 0 1 2 0 2 2", "i32[3] 7 8 9", "i64[2] 3 4"}},
  };
}

} // namespace
} // namespace troupe
