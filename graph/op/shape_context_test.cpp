#include "graph/op/shape_context.hpp"

#include <doctest/doctest.h>

#include "graph/op/infer.hpp"

using namespace troupe;

namespace {

std::string broadcast(PartialShape a, PartialShape b) {
  auto out = broadcast_partial(a, b);
  return out.ok() ? out->to_string() : out.status().message();
}

OpSchema two_inputs(ShapeFn fn) {
  return SchemaBuilder("Op").input("a: float; b: int32").output("y: float").shape_fn(fn).build();
}

} // namespace

TEST_CASE("shapes: broadcasting keeps what is known") {
  CHECK(broadcast({2, 3}, {3}) == "[2,3]");
  CHECK(broadcast({2, 1}, {4}) == "[2,4]");
  CHECK(broadcast({-1, 3}, {2, 3}) == "[2,3]");
  CHECK(broadcast({-1}, {1}) == "[?]");
  CHECK(broadcast({-1}, {-1}) == "[?]");
  CHECK(broadcast({}, PartialShape(Shape{})) == "?");
  CHECK(broadcast({0}, {1}) == "[0]");
  CHECK(broadcast({2}, {3}).starts_with("Dimensions must be equal, but are 2 and 3"));
}

TEST_CASE("shapes: rank checks speak TensorFlow's words and let unknown ranks pass") {
  OpSchema op = two_inputs([](ShapeContext& c) -> Status {
    TROUPE_TRY(c.require_rank(0, 2));
    TROUPE_TRY(c.require_rank_at_least(1, 1));
    TROUPE_TRY(c.require_rank_at_most(1, 2));
    return c.output_like(0, 0);
  });
  auto message = [&](PartialShape a, PartialShape b) {
    return infer_shapes(op, {}, {a, b}).status().message();
  };
  CHECK(message({3}, {1}) == "Shape must be rank 2 but is rank 1");
  CHECK(message({3, 4}, Shape{}) == "Shape must be at least rank 1 but is rank 0");
  CHECK(message({3, 4}, {1, 2, 3}) == "Shape must be at most rank 2 but is rank 3");
  CHECK(infer_shapes(op, {}, {PartialShape(), PartialShape()}).ok());
  CHECK(infer_shapes(op, {}, {PartialShape()}).status().code() == Code::invalid_argument);
  CHECK(*infer_shapes(op, {}, {PartialShape({3, 4}), PartialShape()}) ==
        std::vector<PartialShape>{{3, 4}});
}

TEST_CASE("shapes: a constant input gives a shape, an unknown one its rank") {
  OpSchema op = two_inputs([](ShapeContext& c) -> Status {
    TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(1));
    return c.set_output(0, shape);
  });
  auto shape = [&](PartialShape of_shape, Tensor value) {
    auto out = infer_shapes(op, {}, {PartialShape(), of_shape}, {Tensor(), value});
    return out.ok() ? (*out)[0].to_string() : out.status().message();
  };
  CHECK(shape({2}, Tensor::vector<std::int32_t>({3, -1})) == "[3,?]");
  CHECK(shape({2}, Tensor::vector<std::int64_t>({3, 4})) == "[3,4]");
  CHECK(shape(Shape{}, Tensor::scalar<std::int32_t>(-1)) == "?");
  CHECK(shape({2}, Tensor()) == "[?,?]");
  CHECK(shape({-1}, Tensor()) == "?");
  CHECK(shape({1}, Tensor::vector<std::int32_t>({-2})) == "Dimension -2 must be >= -1");
  CHECK(shape({1000}, Tensor()).starts_with("A shape of 1000 dimensions is too long"));
  CHECK(shape({2, 2}, Tensor()).find("must be rank 1 but is rank 2") != std::string::npos);
  CHECK(shape({2}, Tensor::vector<std::int64_t>({std::int64_t{1} << 40, std::int64_t{1} << 40}))
            .find("2^63") != std::string::npos);
}

TEST_CASE("shapes: merging inputs joins what each knows") {
  OpSchema op = SchemaBuilder("Op")
                    .input("a: N * float")
                    .output("y: float")
                    .attr("N: int")
                    .shape_fn(shape_merge_inputs)
                    .build();
  AttrMap two{{"N", std::int64_t{2}}};
  CHECK(*infer_shapes(op, two, {PartialShape({2, -1}), PartialShape({-1, 3})}) ==
        std::vector<PartialShape>{{2, 3}});
  CHECK(infer_shapes(op, two, {PartialShape({2}), PartialShape({3})}).status().message() ==
        "Shapes must be equal, but input 0 has [2] and input 1 has [3]");
}

TEST_CASE("shapes: a declared input is found by name") {
  OpSchema op = SchemaBuilder("Op").input("a: N * float; b: float").attr("N: int").build();
  AttrMap attrs{{"N", std::int64_t{3}}};
  ShapeContext c(op, attrs, std::vector<PartialShape>(4), {}, 0);
  CHECK(c.input_range("b")->begin == 3);
  CHECK(c.input_range("b")->end == 4);
  CHECK(c.input_range("zz").status().code() == Code::internal);
  CHECK(c.set_output(0, {}).code() == Code::internal);
}
