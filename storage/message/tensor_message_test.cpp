#include "storage/message/tensor_message.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "core/tensor/variant.hpp"
#include "storage/message/message.hpp"

using namespace troupe;

namespace {

Tensor tensor(std::string_view literal) {
  auto out = parse_literal(literal);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

const char* const literals[] = {"f32[2] -1.5 2",
                                "f64[2] -1.5 2",
                                "f16[2] -1.5 2",
                                "bf16[2] -1.5 2",
                                "i8[2] -1 127",
                                "i16[2] -1 300",
                                "i32[2] -2147483648 7",
                                "i64[2] -9223372036854775808 7",
                                "u8[2] 255 0",
                                "u16[2] 65535 0",
                                "u32[2] 4294967295 0",
                                "u64[2] 18446744073709551615 0",
                                "bool[3] true false true",
                                "str[3] \"a\" \"\" \"bc\"",
                                "f32[] 3",
                                "f32[0,3]",
                                "str[0]"};

Tensor variant(std::string type_name, std::vector<Tensor> tensors, std::string metadata = "") {
  Tensor out = Tensor::make(DType::variant, Shape{});
  out.mutable_data<Variant>()[0] = make_variant(
      std::move(type_name), {.metadata = std::move(metadata), .tensors = std::move(tensors)});
  return out;
}

} // namespace

TEST_CASE("tensor message: tensors of each dtype, whole and their elements alone") {
  for (const char* literal : literals) {
    CAPTURE(literal);
    const Tensor value = tensor(literal);
    auto message = tensor_message(value);
    REQUIRE(message.ok());
    auto back = tensor_from_message(*message, host_allocator());
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(equal(*back, value));
    auto elements = elements_message(value);
    REQUIRE(elements.ok());
    auto same = tensor_from_elements(*elements, value.dtype(), value.shape(), host_allocator());
    REQUIRE_MESSAGE(same.ok(), same.status().to_string());
    CHECK(equal(*same, value));
    if (value.num_elements() > 0)
      CHECK(tensor_from_elements(*elements, value.dtype(), Shape{9}, host_allocator())
                .status()
                .code() == Code::invalid_argument);
  }
}

TEST_CASE("tensor message: handles and variants, in variants too") {
  Tensor handles = Tensor::make(DType::resource, Shape{2});
  handles.mutable_data<ResourceHandle>()[1] = {"/cpu:0", "c", "n", 77, "type"};
  const Tensor inner = variant("inner", {tensor("f32[2] 1 2"), handles}, "meta");
  const Tensor outer = variant("outer", {inner, tensor("str[1] \"text\"")});
  for (const Tensor& value : {handles, inner, outer, variant("bytes", {}, "only")}) {
    auto message = tensor_message(value);
    REQUIRE(message.ok());
    auto back = tensor_from_message(*message, host_allocator());
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(equal(*back, value));
    CHECK(elements_message(value).status().code() == Code::unimplemented);
  }
}

TEST_CASE("tensor message: variants that are nested too deep are refused") {
  std::string message = *variant_message(Variant{});
  for (int depth = 0; depth < 2 * max_variant_nesting; ++depth) {
    MessageWriter shape, inner, out;
    inner.signed_integer(1, static_cast<std::int64_t>(DType::variant)).message(2, shape);
    inner.bytes(15, message);
    out.message(3, inner);
    message = out.take();
    auto read = variant_from_message(message, host_allocator());
    if (depth > max_variant_nesting)
      CHECK(read.status().code() == Code::invalid_argument);
  }
}

TEST_CASE("tensor message: the last element stands for those that are left out") {
  MessageWriter dim, shape, out;
  dim.integer(1, 3);
  shape.message(2, dim);
  out.signed_integer(1, static_cast<std::int64_t>(DType::int32)).message(2, shape);
  CHECK(equal(*tensor_from_message(out.text(), host_allocator()), tensor("i32[3] 0 0 0")));
  out.integer(7, 5).signed_integer(7, -6);
  CHECK(equal(*tensor_from_message(out.text(), host_allocator()), tensor("i32[3] 5 -6 -6")));
}

TEST_CASE("tensor message: bytes that are no bools become some") {
  MessageWriter dim, shape, out;
  dim.integer(1, 2);
  shape.message(2, dim);
  out.signed_integer(1, static_cast<std::int64_t>(DType::bool_)).message(2, shape);
  out.bytes(4, std::string_view("\x7\x0", 2));
  CHECK(equal(*tensor_from_message(out.text(), host_allocator()), tensor("bool[2] true false")));
}

TEST_CASE("tensor message: what is none, in whole and in part") {
  for (const char* literal : literals) {
    CAPTURE(literal);
    const std::string message = *tensor_message(tensor(literal));
    for (std::size_t size = 0; size < message.size(); ++size)
      (void)tensor_from_message(message.substr(0, size), host_allocator());
    for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
      std::string damaged = message;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      if (auto read = tensor_from_message(damaged, host_allocator()); read.ok())
        CHECK(read->has_value());
    }
  }
  CHECK(tensor_from_message("", host_allocator()).status().code() == Code::invalid_argument);
}
