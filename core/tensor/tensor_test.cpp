#include "core/tensor/tensor.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/tensor/literal.hpp"

using namespace troupe;

namespace {

class FullAllocator final : public Allocator {
public:
  const char* name() const override { return "full"; }
  void* allocate(std::size_t) override { return nullptr; }
  void deallocate(void*, std::size_t) override {}
};

Tensor lit(std::string_view text) {
  auto t = parse_literal(text);
  REQUIRE_MESSAGE(t.ok(), t.status().to_string());
  return *std::move(t);
}

} // namespace

TEST_CASE("tensor: makers") {
  CHECK_FALSE(Tensor().has_value());
  CHECK(to_literal(Tensor::scalar(1.5f)) == "f32[] 1.5");
  CHECK(to_literal(Tensor::scalar("text")) == "str[] \"text\"");
  CHECK(to_literal(Tensor::scalar(true)) == "bool[] true");
  CHECK(to_literal(Tensor::vector<std::int64_t>({1, 2})) == "i64[2] 1 2");
  CHECK(to_literal(Tensor::of<float>(Shape{2, 1}, {3, 4})) == "f32[2,1] 3 4");
  CHECK(to_literal(Tensor::zeros(DType::int32, Shape{2})) == "i32[2] 0 0");
  CHECK(to_literal(Tensor::zeros(DType::string, Shape{2})) == "str[2] \"\" \"\"");
  CHECK(Tensor::zeros(DType::float32, Shape{0}).num_elements() == 0);
}

TEST_CASE("tensor: copies share, deep copies do not") {
  Tensor a = lit("f32[2] 1 2");
  CHECK(a.is_unique());
  Tensor b = a;
  CHECK_FALSE(a.is_unique());
  CHECK(a.shares_buffer_with(b));
  Tensor c = a.deep_copy();
  CHECK_FALSE(c.shares_buffer_with(a));
  CHECK(equal(a, c));
  c.mutable_data<float>()[0] = 9;
  CHECK(a.data<float>()[0] == 1);
  b = {};
  CHECK(a.is_unique());
  for (const char* text : {"str[2] \"a\" \"b\"", "resource[] (\"d\",\"c\",\"n\",1,\"t\")",
                           "variant[] (\"t\",\"m\")", "c128[] (1,2)", "f32[0]"}) {
    Tensor t = lit(text);
    CHECK(equal(t.deep_copy(), t));
  }
}

TEST_CASE("tensor: views of rows, of shapes and of bits share the buffer") {
  Tensor t = lit("i32[3,2] 1 2 3 4 5 6");
  CHECK(to_literal(t.rows(1, 3)) == "i32[2,2] 3 4 5 6");
  CHECK(to_literal(t.rows(1, 3).rows(1, 2)) == "i32[1,2] 5 6");
  CHECK(to_literal(t.rows(3, 3)) == "i32[0,2]");
  CHECK(to_literal(t.reshaped(Shape{6})) == "i32[6] 1 2 3 4 5 6");
  CHECK(t.rows(0, 1).shares_buffer_with(t));
  CHECK(to_literal(lit("str[3] \"a\" \"b\" \"c\"").rows(1, 2)) == "str[1] \"b\"");
  CHECK(to_literal(lit("variant[2] (\"a\",\"\") (\"b\",\"\")").rows(1, 2)) ==
        "variant[1] (\"b\",\"\")");
  CHECK(
      to_literal(lit("resource[2] (\"\",\"\",\"a\",1,\"\") (\"\",\"\",\"b\",2,\"\")").rows(1, 2)) ==
      "resource[1] (\"\",\"\",\"b\",2,\"\")");
  CHECK(to_literal(lit("f32[1] 1").bitcast(DType::uint32)) == "u32[1] 1065353216");
  CHECK(to_literal(lit("f32[0,2]").rows(0, 0)) == "f32[0,2]");
}

TEST_CASE("tensor: a view keeps the memory alive and is not unique") {
  Tensor view;
  {
    Tensor t = lit("i64[4] 1 2 3 4");
    view = t.rows(2, 4);
    CHECK_FALSE(view.is_unique());
  }
  CHECK(view.is_unique());
  CHECK(to_literal(view) == "i64[2] 3 4");
}

TEST_CASE("tensor: a foreign buffer with an offset") {
  float memory[4] = {1, 2, 3, 4};
  Tensor t(DType::float32, Shape{2}, Buffer::wrap(memory, sizeof memory, [](void*) {}), 8);
  CHECK(to_literal(t) == "f32[2] 3 4");
  CHECK(t.raw() == memory + 2);
}

TEST_CASE("tensor: bytes") {
  CHECK(lit("f64[2,3] 0").byte_size() == 48);
  CHECK(lit("f64[2,3] 0").bytes().size() == 48);
  CHECK(lit("str[2] \"abc\" \"\"").byte_size() == 2 * sizeof(std::string) + 3);
  CHECK(lit("c64[] (1,2)").bytes().size() == 8);
}

TEST_CASE("tensor: no room is a sentence") {
  FullAllocator full;
  CHECK(Tensor::allocate(full, DType::float32, Shape{2, 3}).status() ==
        resource_exhausted("OOM when allocating tensor with shape[2,3] and type float by allocator "
                           "full: it has 24 bytes; the system has no more memory to give"));
  CHECK(Tensor::allocate(full, DType::string, Shape{2}).ok());
  Shape huge{std::int64_t{1} << 62};
  CHECK(Tensor::allocate(host_allocator(), DType::float64, huge).status().code() ==
        Code::resource_exhausted);
  CHECK(Tensor::allocate(host_allocator(), DType::string, huge).status().code() ==
        Code::resource_exhausted);
}

TEST_CASE("tensor: equality is bit by bit") {
  CHECK(equal(lit("f32[2] nan 1"), lit("f32[2] nan 1")));
  CHECK_FALSE(equal(lit("f32[] 0"), lit("f32[] -0")));
  CHECK_FALSE(equal(lit("f32[2] 1 2"), lit("f32[1,2] 1 2")));
  CHECK_FALSE(equal(lit("f32[] 1"), lit("f64[] 1")));
  CHECK_FALSE(equal(lit("str[] \"a\""), lit("str[] \"b\"")));
  CHECK(equal(lit("f32[0]"), lit("f32[0]")));
  CHECK(equal(Tensor(), Tensor()));
  CHECK_FALSE(equal(Tensor(), lit("f32[] 1")));
}

TEST_CASE("tensor: elements asked for as another dtype name both") {
  try {
    (void)lit("f32[2] 1 2").data<double>();
    FAIL("no exception");
  } catch (const BadAccess& e) {
    CHECK(e.status() == invalid_argument("the elements of a float tensor of shape [2] were asked "
                                         "for as double: name its element type, or convert it by "
                                         "Cast in the graph"));
  }
  CHECK_THROWS_WITH_AS((void)lit("f32[2] 1 2").value<float>(),
                       "INVALID_ARGUMENT: the only element of a tensor was asked for, which has 2 "
                       "(shape [2])",
                       BadAccess);
}
