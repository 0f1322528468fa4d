// Cases of _FusedConv2D.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Names = std::vector<std::string>;

std::vector<std::pair<std::string, AttrValue>> with(Names fused_ops, std::int64_t num_args,
                                                    std::string padding = "SAME") {
  return {{"fused_ops", std::move(fused_ops)},
          {"num_args", num_args},
          {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
          {"padding", std::move(padding)},
          {"epsilon", 0.0F}};
}

std::vector<std::pair<std::string, AttrValue>> padded(Names fused_ops, std::int64_t num_args,
                                                      std::vector<std::int64_t> paddings) {
  auto out = with(std::move(fused_ops), num_args, "EXPLICIT");
  out.emplace_back("explicit_paddings", std::move(paddings));
  return out;
}

TROUPE_OP_CASES(_FusedConv2D) {
  const std::string image = "f32[1,2,2,1] 1 2 3 4", filter = "f32[1,1,1,2] 1 -1";
  return {
      {.name = "a bias",
       .inputs = {image, filter, "f32[2] 10 0.5"},
       .attrs = with({"BiasAdd"}, 1),
       .outputs = {"f32[1,2,2,2] 11 -0.5 12 -1.5 13 -2.5 14 -3.5"}},
      {.name = "a bias and relu",
       .inputs = {image, filter, "f32[2] -2 2.5"},
       .attrs = with({"BiasAdd", "Relu"}, 1),
       .outputs = {"f32[1,2,2,2] 0 1.5 0 0.5 1 0 2 0"}},
      {.name = "two groups, a bias, an addend and relu",
       .inputs = {"f32[1,1,2,4] 1 2 3 4 -1 0 0.5 2", "f32[1,1,2,4] 1 2 3 4 5 6 7 8",
                  "f32[4] 1 -20 0 1", "f32[1,1,2,4] 0 10 0 0 0 0 -20 1"},
       .attrs = with({"BiasAdd", "Add", "Relu"}, 2),
       .outputs = {"f32[1,1,2,4] 12 4 37 45 0 0 0 20"}},
      {.name = "no channels, a bias and relu",
       .inputs = {"f32[1,2,2,0]", filter, "f32[2] -2 2.5"},
       .attrs = with({"BiasAdd", "Relu"}, 1),
       .outputs = {"f32[1,2,2,2] 0 2.5 0 2.5 0 2.5 0 2.5"}},
      {.name = "relu alone",
       .inputs = {image, filter},
       .attrs = with({"Relu"}, 0),
       .outputs = {"f32[1,2,2,2] 1 0 2 0 3 0 4 0"}},
      {.name = "an addend",
       .inputs = {image, filter, "f32[2] 0 0", "f32[1,2,2,2] 1 2 3 4 5 6 7 8"},
       .attrs = with({"BiasAdd", "Add"}, 2),
       .outputs = {"f32[1,2,2,2] 2 1 5 2 8 3 11 4"}},
      {.name = "batch normalisation, an addend and relu",
       .inputs = {image, filter, "f32[2] 1 2", "f32[2] 0 1", "f32[2] 2 -2", "f32[2] 4 0.25",
                  "f32[1,2,2,2] 0 0 0 0 0 0 -10 10"},
       .attrs = with({"FusedBatchNorm", "Add", "Relu"}, 5),
       .outputs = {"f32[1,2,2,2] 0 5 0 1 0.5 0 0 3"}},
      {.name = "a window of nine on four images",
       .inputs = {"f32[4,3,3,16] 1", "f32[3,3,16,16] 0.5", "f32[16] 2", "f32[16] 1", "f32[16] 8",
                  "f32[16] 4"},
       .attrs = with({"FusedBatchNorm"}, 4, "VALID"),
       .outputs = {"f32[4,1,1,16] 65"}},
      {.name = "a window of nine with many channels, several images to a part",
       .inputs = {"f32[16,10,10,64] 1", "f32[3,3,64,64] 0.5", "f32[64] 2", "f32[16,8,8,64] 10"},
       .attrs = with({"BiasAdd", "Add", "Relu"}, 2, "VALID"),
       .outputs = {"f32[16,8,8,64] 300"}},
      {.name = "a window of twenty-five with many channels",
       .inputs = {"f32[9,11,10,32] 1", "f32[5,5,32,48] 0.25", "f32[48] 100"},
       .attrs = with({"BiasAdd", "Relu"}, 1, "VALID"),
       .outputs = {"f32[9,7,6,48] 300"}},
      {.name = "one image large enough for bands of rows",
       .inputs = {"f32[1,37,31,64] 1", "f32[1,1,64,256] 0.25", "f32[256] -6"},
       .attrs = with({"BiasAdd", "Relu"}, 1),
       .outputs = {"f32[1,37,31,256] 10"}},
      {.name = "bands of rows see their neighbours",
       .inputs = {"f32[1,5,40,128] 1", "f32[5,1,128,128] 0.5", "f32[128] 0"},
       .attrs = with({"BiasAdd"}, 1, "VALID"),
       .outputs = {"f32[1,1,40,128] 320"}},
      {.name = "an addend that broadcasts",
       .inputs = {image, filter, "f32[2] 0 0", "f32[2,1,1,2] 1 2 -3 -4"},
       .attrs = with({"BiasAdd", "Add", "Relu"}, 2),
       .outputs = {"f32[2,2,2,2] 2 1 3 0 4 0 5 0 0 0 0 0 0 0 1 0"}},
      {.name = "NaN and infinity pass relu",
       .inputs = {"f32[1,1,3,1] nan inf -inf", "f32[1,1,1,1] 1", "f32[1] 1"},
       .attrs = with({"BiasAdd", "Relu"}, 1),
       .outputs = {"f32[1,1,3,1] nan inf 0"}},
      {.name = "no images",
       .inputs = {"f32[0,2,2,1]", filter, "f32[2] 0 0"},
       .attrs = with({"BiasAdd", "Relu"}, 1),
       .outputs = {"f32[0,2,2,2]"}},
      {.name = "images of no rows in padding",
       .inputs = {"f32[2,0,2,1]", "f32[3,3,1,2] 1", "f32[2] 3 -3", "f32[2,1,2,2] 1"},
       .attrs = padded({"BiasAdd", "Add", "Relu"}, 2, {0, 0, 1, 2, 1, 1, 0, 0}),
       .outputs = {"f32[2,1,2,2] 4 0 4 0 4 0 4 0"}},
      {.name = "an image of no rows, large enough for bands of rows",
       .inputs = {"f32[1,0,256,64]", "f32[3,3,64,64] 1", "f32[64] 2"},
       .attrs = padded({"BiasAdd"}, 1, {0, 0, 2, 3, 1, 1, 0, 0}),
       .outputs = {"f32[1,3,256,64] 2"}},
      {.name = "a bias that does not fit",
       .inputs = {image, filter, "f32[1] 0"},
       .attrs = with({"BiasAdd"}, 1),
       .error = "Must provide as many biases as the last dimension of the input tensor: [1] vs. "
                "[1,2,2,2]"},
      {.name = "an addend that does not fit",
       .inputs = {image, filter, "f32[2] 0 0", "f32[1,3,2,2] 0"},
       .attrs = with({"BiasAdd", "Add"}, 2),
       .error = "3"},
      {.name = "operations in another order",
       .inputs = {image, filter, "f32[2] 0 0"},
       .attrs = with({"Relu", "BiasAdd"}, 1),
       .error = "fused_ops [Relu,BiasAdd] with 3 inputs is not"},
      {.name = "images that are none",
       .inputs = {"f32[2] 0", filter},
       .attrs = with({"Relu"}, 0),
       .error = "rank"},
  };
}

} // namespace
} // namespace troupe
