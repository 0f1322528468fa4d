#include "graph/convert/tensor_proto.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "core/tensor/variant.hpp"
#include "graph/convert/internal/proto.hpp"
#include "proto/tensor.pb.h"

using namespace troupe;

namespace {

Tensor literal(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *std::move(tensor);
}

Result<Tensor> from_text(std::string_view text, DecodeLimits limits = {}) {
  tensorflow::TensorProto proto;
  Status status = parse_text(text, proto);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  DecodeBudget budget(limits);
  return from_proto(proto, budget);
}

/// Has room for so much and counts it.
class Counting final : public Allocator {
public:
  explicit Counting(std::size_t room) : room_(room) {}
  const char* name() const override { return "counting"; }
  void* allocate(std::size_t bytes) override {
    if (bytes > room_)
      return nullptr;
    room_ -= bytes;
    return host_allocator().allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) override {
    room_ += bytes;
    host_allocator().deallocate(memory, bytes);
  }
  std::string refusal() const override { return "the test gives no more"; }
  std::size_t room() const { return room_; }

private:
  std::size_t room_;
};

} // namespace

TEST_CASE("tensor proto: what a tensor takes is asked of the memory that the caller names") {
  Counting memory(1000);
  DecodeLimits limits;
  limits.memory = &memory;
  {
    auto filled =
        from_text("dtype: DT_FLOAT tensor_shape { dim { size: 100 } } float_val: 1", limits);
    REQUIRE_MESSAGE(filled.ok(), filled.status().to_string());
    CHECK(memory.room() <= 600);
    auto more =
        from_text("dtype: DT_FLOAT tensor_shape { dim { size: 200 } } float_val: 1", limits);
    CHECK(more.status().code() == Code::resource_exhausted);
    CHECK(more.status().message().find("the test gives no more") != std::string::npos);
    auto content =
        from_text(str_cat("dtype: DT_INT8 tensor_shape { dim { size: 700 } } tensor_content: '",
                          std::string(700, 'a'), "'"),
                  limits);
    CHECK(content.status().code() == Code::resource_exhausted);
  }
  CHECK(memory.room() == 1000);
}

TEST_CASE("tensor bytes: every dtype goes there and back in every encoding") {
  for (const char* text : {"f32[2,2] 1 2.5 -3 nan",
                           "f64[] 1e300",
                           "i32[3] 1 -2 3",
                           "u8[2] 0 255",
                           "i16[1] -7",
                           "i8[2] -128 127",
                           "str[2] \"a\\x00b\" \"\"",
                           "c64[2] (1,2) (3,-4)",
                           "i64[1] -9223372036854775808",
                           "bool[3] true false true",
                           "qi8[1] -3",
                           "qu8[1] 200",
                           "qi32[1] -70000",
                           "bf16[2] 1 -2",
                           "qi16[1] -300",
                           "qu16[1] 60000",
                           "u16[1] 65535",
                           "c128[1] (1,-1)",
                           "f16[3] 0.5 -2 65504",
                           "u32[1] 4294967295",
                           "u64[1] 18446744073709551615",
                           "f8e5m2[2] 1 255",
                           "i4[2] 1 7",
                           "f32[0,3]",
                           "str[0]",
                           "f4e2m1fn[1] 3"}) {
    Tensor tensor = literal(text);
    for (auto encoding : {TensorEncoding::content, TensorEncoding::graph, TensorEncoding::fields}) {
      auto back = tensor_from_bytes(tensor_to_bytes(tensor, encoding));
      REQUIRE_MESSAGE(back.ok(), back.status().to_string());
      CHECK_MESSAGE(equal(*back, tensor), text);
    }
  }
}

TEST_CASE("tensor bytes: variants hold tensors, other variants among them, to a depth") {
  auto around = [](const Tensor& inner) {
    return Tensor::scalar(
        make_variant("list", {.metadata = "m", .tensors = {inner, literal("i32[0]")}}));
  };
  Tensor nested = literal("str[2] \"a\" \"\"");
  for (int i = 0; i < 3; ++i)
    nested = around(nested);
  for (auto encoding : {TensorEncoding::content, TensorEncoding::graph, TensorEncoding::fields}) {
    const auto back = tensor_from_bytes(tensor_to_bytes(nested, encoding));
    REQUIRE(back.ok());
    CHECK(equal(*back, nested));
    CHECK_FALSE(equal(*back, around(nested)));
  }
  while (nesting_of(nested) <= max_variant_nesting)
    nested = around(nested);
  for (auto encoding : {TensorEncoding::content, TensorEncoding::fields})
    CHECK(tensor_from_bytes(tensor_to_bytes(nested, encoding)).status().code() ==
          Code::invalid_argument);
}

TEST_CASE("tensor bytes: resources and variants go there and back") {
  Tensor handles = Tensor::make(DType::resource, {2});
  handles.mutable_data<ResourceHandle>()[1] = {"/job:a", "c", "n", 7, "T"};
  Tensor variants = Tensor::make(DType::variant, {1});
  variants.mutable_data<Variant>()[0].type_name = "tree";
  variants.mutable_data<Variant>()[0].metadata = std::string("\0x", 2);
  for (auto encoding : {TensorEncoding::content, TensorEncoding::graph, TensorEncoding::fields}) {
    CHECK(equal(*tensor_from_bytes(tensor_to_bytes(handles, encoding)), handles));
    CHECK(equal(*tensor_from_bytes(tensor_to_bytes(variants, encoding)), variants));
  }
}

TEST_CASE("tensor bytes: fields write a run of equal values at the end once") {
  Tensor zeros = Tensor::zeros(DType::float32, {1000});
  CHECK(tensor_to_bytes(zeros, TensorEncoding::fields).size() < 30);
  CHECK(equal(*tensor_from_bytes(tensor_to_bytes(zeros, TensorEncoding::fields)), zeros));
  Tensor signs = literal("f32[2] 0 -0");
  CHECK(equal(*tensor_from_bytes(tensor_to_bytes(signs, TensorEncoding::fields)), signs));
}

TEST_CASE("tensor bytes: the last value fills up, none at all means zero, too many are dropped") {
  auto shape = [](std::string_view values) {
    auto t = from_text(str_cat("dtype: DT_INT32 tensor_shape { dim { size: 4 } } ", values));
    REQUIRE(t.ok());
    return t->to_string();
  };
  CHECK(shape("int_val: 1 int_val: 2") == "i32[4] 1 2 2 2");
  CHECK(shape("") == "i32[4] 0 0 0 0");
  CHECK(shape("int_val: [1, 2, 3, 4, 5, 6]") == "i32[4] 1 2 3 4");
  auto strings = from_text("dtype: DT_STRING tensor_shape { dim { size: 3 } } string_val: 'x'");
  CHECK(equal(*strings, literal("str[3] \"x\" \"x\" \"x\"")));
  auto half = from_text("dtype: DT_HALF tensor_shape { } half_val: 0x3c00");
  CHECK(equal(*half, literal("f16[] 1")));
}

TEST_CASE("tensor bytes: a bool's content becomes a bool whatever the byte") {
  auto t = from_text(
      "dtype: DT_BOOL tensor_shape { dim { size: 3 } } tensor_content: '\\000\\001\\377'");
  REQUIRE(t.ok());
  CHECK(equal(*t, literal("bool[3] false true true")));
}

TEST_CASE("tensor bytes: a small message cannot claim much memory") {
  auto claim = [](std::string_view dtype, std::string_view dims, std::string_view values) {
    auto t = from_text(str_cat("dtype: ", dtype, " tensor_shape { ", dims, " } ", values),
                       {.filled_bytes = 1 << 20});
    REQUIRE_FALSE(t.ok());
    return t.status().code();
  };
  constexpr std::string_view gib = "dim { size: 268435456 }";
  CHECK(claim("DT_FLOAT", gib, "") == Code::resource_exhausted);
  CHECK(claim("DT_FLOAT", gib, "float_val: 1") == Code::resource_exhausted);
  CHECK(claim("DT_FLOAT", gib, "tensor_content: 'abcd'") == Code::invalid_argument);
  CHECK(claim("DT_STRING", gib, "") == Code::resource_exhausted);
  CHECK(claim("DT_STRING", gib, "tensor_content: '\\001a'") == Code::invalid_argument);
  CHECK(claim("DT_RESOURCE", gib, "") == Code::resource_exhausted);
  CHECK(claim("DT_VARIANT", gib, "tensor_content: 'a'") == Code::invalid_argument);
  CHECK(claim("DT_DOUBLE", "dim { size: 4611686018427387904 }", "") == Code::resource_exhausted);
  CHECK(claim("DT_FLOAT", "dim { size: 9223372036854775807 } dim { size: 9 }", "") ==
        Code::invalid_argument);
  std::string long_text(10'000, 'x');
  CHECK(claim("DT_STRING", "dim { size: 1000 }", str_cat("string_val: '", long_text, "'")) ==
        Code::resource_exhausted);
}

TEST_CASE("tensor bytes: what means nothing is refused with a sentence") {
  auto message = [](std::string_view text) {
    auto t = from_text(text);
    REQUIRE_FALSE(t.ok());
    return t.status().message();
  };
  CHECK(message("") == "a tensor cannot have dtype invalid");
  CHECK(message("dtype: DT_FLOAT_REF") == "a tensor cannot have dtype float_ref");
  CHECK(message("dtype: DT_FLOAT tensor_shape { unknown_rank: true }").find("must be known") !=
        std::string::npos);
  CHECK(message("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }").find("must be known") !=
        std::string::npos);
  CHECK(message("dtype: DT_FLOAT tensor_shape { dim { size: -5 } }").find("dimension -5") !=
        std::string::npos);
  CHECK(message("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abc'") ==
        "tensor_content of a float tensor of shape [2] has the wrong size: 3 bytes");
  CHECK(
      message("dtype: DT_STRING tensor_shape { } tensor_content: '\\005abc'").find("wrong size") !=
      std::string::npos);
  CHECK(message("dtype: DT_RESOURCE tensor_shape { } tensor_content: '\\003abc'")
            .find("are not a binary tensorflow.ResourceHandleProto") != std::string::npos);
  CHECK(message("dtype: DT_VARIANT tensor_shape { } variant_val { type_name: 'L' tensors { } }")
            .find("a tensor cannot have dtype invalid") != std::string::npos);
  std::string dims;
  for (int i = 0; i < 300; ++i)
    dims += "dim { size: 1 } ";
  CHECK(message(str_cat("dtype: DT_FLOAT tensor_shape { ", dims, "}")).find("300 dimensions") !=
        std::string::npos);
}

TEST_CASE("tensor bytes: bytes that are cut off are refused") {
  std::string bytes = tensor_to_bytes(literal("f32[2,2] 1 2 3 4"));
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    auto t = tensor_from_bytes(std::string_view(bytes).substr(0, length));
    if (t.ok()) // cut between two fields: what is missing means zeros
      CHECK_FALSE(equal(*t, literal("f32[2,2] 1 2 3 4")));
    else
      CHECK(t.status().code() == Code::invalid_argument);
  }
}
