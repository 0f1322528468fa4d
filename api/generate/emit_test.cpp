#include "api/generate/emit.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

OpFunctions emit(const OpSchema& schema) {
  return emit_op_functions({&schema});
}
bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

} // namespace

TEST_CASE("attrs that inputs determine vanish, those with defaults make a struct") {
  OpSchema schema = SchemaBuilder("MatMul")
                        .input("a: T")
                        .input("b: T")
                        .output("product: T")
                        .attr("transpose_a: bool = false")
                        .attr("T: {float, double}")
                        .doc("Product.")
                        .build();
  OpFunctions out = emit(schema);
  CHECK(has(out.header, "struct MatMulAttrs {\n  bool transpose_a = false;\n};"));
  CHECK(has(out.header, "/// Product.\n"));
  CHECK(has(out.header, "Output mat_mul(const Scope& scope, const Input& a, const Input& b, "
                        "const MatMulAttrs& attrs = {});"));
  CHECK_FALSE(has(out.source, "\"T\""));
  CHECK(has(out.source, "call.attr(\"transpose_a\", attrs.transpose_a);"));
}

TEST_CASE(
    "required attrs stand behind the inputs, without an attrs struct if nothing is optional") {
  OpSchema schema = SchemaBuilder("Cast")
                        .input("x: SrcT")
                        .output("y: DstT")
                        .attr("SrcT: type")
                        .attr("DstT: type")
                        .build();
  CHECK(has(emit(schema).header, "Output cast(const Scope& scope, const Input& x, DType dst_t);"));
}

TEST_CASE("no output gives the operation, several a struct, a list a vector") {
  CHECK(has(emit(SchemaBuilder("NoOp").build()).header, "Operation no_op(const Scope& scope);"));
  OpSchema top = SchemaBuilder("TopKV2")
                     .input("input: T")
                     .output("values: T")
                     .output("indices: int32")
                     .attr("T: type")
                     .build();
  CHECK(has(emit(top).header, "struct TopKV2Outputs {\n  Output values;\n  Output indices;\n};"));
  CHECK(has(emit(top).source, "return {call.one(0), call.one(1)};"));
  OpSchema split = SchemaBuilder("Split")
                       .input("value: T")
                       .output("output: num_split * T")
                       .attr("num_split: int >= 1")
                       .attr("T: type")
                       .build();
  CHECK(has(emit(split).header, "std::vector<Output> split(const Scope& scope, const Input& value, "
                                "std::int64_t num_split);"));
}

TEST_CASE("names that clash or are words of C++ are changed") {
  OpSchema schema = SchemaBuilder("Switch")
                        .input("t: T")
                        .input("default: bool")
                        .output("o: U")
                        .attr("T: type")
                        .attr("U: type")
                        .build();
  CHECK(has(emit(schema).header,
            "Output switch_(const Scope& scope, const Input& t, const Input& default_, DType u);"));
}

TEST_CASE("defaults are written as C++") {
  auto real = [](AttrValue v) { return cpp_value(v, {AttrKind::real, false}); };
  CHECK(real(0.5f) == "0.5f");
  CHECK(real(1.0f) == "1.0f");
  CHECK(real(std::int64_t{2}) == "2.0f");
  CHECK(cpp_value(std::string("a\"b"), {AttrKind::string, false}) == "\"a\\\"b\"");
  CHECK(cpp_value(std::vector<std::int64_t>{1, 2}, {AttrKind::integer, true}) == "{1, 2}");
  CHECK(cpp_value(EmptyList{}, {AttrKind::integer, true}) == "{}");
  CHECK(cpp_value(PartialShape(), {AttrKind::shape, false}) == "PartialShape()");
}

} // namespace troupe
