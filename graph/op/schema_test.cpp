#include "graph/op/schema.hpp"

#include <doctest/doctest.h>

#include "graph/op/infer.hpp"
#include "graph/op/registry.hpp"

using namespace troupe;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Status complete(const OpSchema& schema, AttrMap attrs) {
  return complete_and_check_attrs(schema, attrs);
}

} // namespace

TEST_CASE("schema: the notation of arguments is read") {
  OpSchema op = SchemaBuilder("Op")
                    .input("a: float; ref: Ref(T); list: N * T; refs: N * Ref(T); amp: T&")
                    .input("args: Tin")
                    .output("out: N*int64")
                    .attr("T: type; N: int >= 2; Tin: list(type)")
                    .build();
  REQUIRE(op.inputs.size() == 6);
  CHECK(op.inputs[0].type == DType::float32);
  CHECK(op.inputs[1].type_attr == "T");
  CHECK(op.inputs[1].is_ref);
  CHECK(op.inputs[2].number_attr == "N");
  CHECK_FALSE(op.inputs[2].is_ref);
  CHECK(op.inputs[3].is_ref);
  CHECK(op.inputs[3].number_attr == "N");
  CHECK(op.inputs[4].is_ref);
  CHECK(op.inputs[5].type_list_attr == "Tin");
  CHECK(op.outputs[0].type == DType::int64);
  CHECK(op.attrs[1].has_minimum);
  CHECK(op.attrs[1].minimum == 2);
}

TEST_CASE("schema: the notation of attributes is read") {
  OpSchema op =
      SchemaBuilder("Op")
          .attr("T: {float, int32} = DT_INT32")
          .attr("padding: {'SAME', 'VALID'} = 'SAME'; sep: string = 'a;b'; quote: string = "
                "'it\\'s'; end: string = '\\n'")
          .attr("flag: bool = true; eps: float = 0.001; axes: list(int) = [1, -2]")
          .attr("shape: shape = { unknown_rank: true }")
          .attr("two: shape = { dim { size: 3 } dim { size: -1 } }; scalar: shape = {}")
          .attr("f: func; fs: list(func) >= 1 = []; types: list({float, string}) >= 1 = [DT_FLOAT]")
          .attr("K: list(numbertype); R: realnumbertype; Q: quantizedtype")
          .build();
  auto value = [&](std::string_view name) { return *op.find_attr(name)->default_value; };
  CHECK(value("T") == AttrValue(DType::int32));
  CHECK(op.find_attr("T")->allowed.size() == 2);
  CHECK(value("padding") == AttrValue(std::string("SAME")));
  CHECK(value("sep") == AttrValue(std::string("a;b")));
  CHECK(value("quote") == AttrValue(std::string("it's")));
  CHECK(value("end") == AttrValue(std::string("\n")));
  CHECK(value("flag") == AttrValue(true));
  CHECK(value("eps") == AttrValue(0.001f));
  CHECK(value("axes") == AttrValue(std::vector<std::int64_t>{1, -2}));
  CHECK(value("shape") == AttrValue(PartialShape()));
  CHECK(value("two") == AttrValue(PartialShape({3, -1})));
  CHECK(value("scalar") == AttrValue(PartialShape(Shape{})));
  CHECK(value("types") == AttrValue(std::vector{DType::float32}));
  CHECK(op.find_attr("types")->type == AttrType{AttrKind::type, true});
  CHECK(op.find_attr("types")->minimum == 1);
  CHECK(op.find_attr("K")->allowed.size() == 19);
  CHECK(op.find_attr("R")->allowed.size() == 12);
  CHECK(op.find_attr("Q")->allowed.size() == 5);
  CHECK_FALSE(op.find_attr("f")->default_value);
}

TEST_CASE("schema: the short notation of op tables means the same") {
  OpSchema op =
      SchemaBuilder("Op")
          .attr("T:type=int32 allowed=[int32,int64]; L:[type]=[] allowed=[float,int64] min=0")
          .attr("s:string='NHWC' allowed=[NHWC,NCHW]; b:bool=F; shape:shape=?")
          .build();
  CHECK(*op.find_attr("T")->default_value == AttrValue(DType::int32));
  CHECK(op.find_attr("T")->allowed.size() == 2);
  CHECK(op.find_attr("L")->type == AttrType{AttrKind::type, true});
  CHECK(op.find_attr("L")->has_minimum);
  CHECK(op.find_attr("s")->allowed[1] == AttrValue(std::string("NCHW")));
  CHECK(*op.find_attr("b")->default_value == AttrValue(false));
  CHECK(*op.find_attr("shape")->default_value == AttrValue(PartialShape()));
}

TEST_CASE("schema: defaults are filled in, and empty lists get their type") {
  OpSchema op = SchemaBuilder("Op").attr("n: int = 7; axes: list(int); T: type").build();
  AttrMap attrs{{"T", DType::float32}, {"axes", EmptyList{}}, {"_class", std::string("x")}};
  REQUIRE(complete_and_check_attrs(op, attrs).ok());
  CHECK(*attrs.get<std::int64_t>("n") == 7);
  CHECK(*attrs.find("axes") == AttrValue(std::vector<std::int64_t>{}));
}

TEST_CASE("schema: wrong attributes are refused in TensorFlow's words") {
  OpSchema op = SchemaBuilder("Op")
                    .input("x: T")
                    .output("y: T")
                    .attr("T: {float, int32}; N: int >= 2 = 2; p: {'SAME', 'VALID'} = 'SAME'")
                    .attr("l: list(int) >= 1 = [1]")
                    .build();
  auto message = [&](AttrMap attrs) {
    Status status = complete(op, std::move(attrs));
    CHECK(status.code() == Code::invalid_argument);
    return status.message();
  };
  CHECK(message({}) == "NodeDef missing attr 'T' from Op<name=Op; signature=x:T -> y:T; "
                       "attr=T:type,allowed=[DT_FLOAT, DT_INT32]; attr=N:int,default=2,min=2; "
                       "attr=p:string,default=\"SAME\",allowed=[\"SAME\", \"VALID\"]; "
                       "attr=l:list(int),default=[1],min=1>");
  CHECK(message({{"T", DType::string}}) ==
        "Value for attr 'T' of string is not in the list of allowed values: float, int32");
  CHECK(contains(message({{"T", std::int64_t{1}}}),
                 "AttrValue had value with type 'int' when 'type' expected"));
  CHECK(contains(message({{"T", make_ref(DType::float32)}}), "float_ref"));
  CHECK(contains(message({{"T", static_cast<DType>(77)}}), "invalid DataType enum: 77"));
  DType t = DType::float32;
  CHECK(message({{"T", t}, {"N", std::int64_t{1}}}) ==
        "Value for attr 'N' of 1 must be at least minimum 2");
  CHECK(message({{"T", t}, {"l", EmptyList{}}}) ==
        "Length for attr 'l' of 0 must be at least minimum 1");
  CHECK(message({{"T", t}, {"p", std::string("FULL")}}) ==
        "Value for attr 'p' of \"FULL\" is not in the list of allowed values: \"SAME\", \"VALID\"");
  CHECK(
      contains(message({{"T", t}, {"zz", true}}), "NodeDef mentions attr 'zz' not in Op<name=Op"));
  CHECK(contains(message({{"T", AttrPlaceholder{"S"}}}), "'placeholder' for attr 'T': '$S'"));
}

TEST_CASE("schema: types and ranges of arguments follow the attributes") {
  OpSchema op = SchemaBuilder("Op")
                    .input("a: N * T; r: Ref(T); rest: L")
                    .output("y: L")
                    .attr("T: type; N: int; L: list(type)")
                    .build();
  AttrMap attrs{{"T", DType::float32},
                {"N", std::int64_t{2}},
                {"L", std::vector{DType::int32, DType::string}}};
  auto types = resolve_types(op, attrs);
  REQUIRE(types.ok());
  CHECK(types->inputs == std::vector{DType::float32, DType::float32, make_ref(DType::float32),
                                     DType::int32, DType::string});
  CHECK(types->outputs == std::vector{DType::int32, DType::string});
  auto ranges = arg_ranges(op.inputs, attrs);
  REQUIRE(ranges.ok());
  CHECK((*ranges)[1].begin == 2);
  CHECK((*ranges)[2].begin == 3);
  CHECK((*ranges)[2].end == 5);
  attrs.set("N", std::int64_t{1} << 40);
  CHECK(resolve_types(op, attrs).status().code() == Code::invalid_argument);
  CHECK(arg_ranges(op.inputs, attrs).status().code() == Code::invalid_argument);
  attrs.set("N", std::int64_t{-1});
  CHECK(resolve_types(op, attrs).status().code() == Code::invalid_argument);
  attrs.erase("N");
  CHECK(contains(resolve_types(op, attrs).status().message(), "'N' is missing"));
}

TEST_CASE("schema: inputs determine attributes that are left out") {
  OpSchema op = SchemaBuilder("Op")
                    .input("first: Tidx; a: N * T; b: N * U")
                    .attr("T: type; N: int; U: type; Tidx: {int32, int64} = DT_INT32")
                    .build();
  std::vector<DType> given{DType::int64, make_ref(DType::float32), DType::float32, DType::string,
                           DType::string};
  AttrMap attrs;
  infer_attrs(op, given, attrs);
  CHECK(attrs == AttrMap{{"N", std::int64_t{2}},
                         {"T", DType::float32},
                         {"U", DType::string},
                         {"Tidx", DType::int64}});
  AttrMap odd;
  given.pop_back();
  infer_attrs(op, given, odd);
  CHECK(odd.empty());

  OpSchema list = SchemaBuilder("L").input("x: float; rest: L").attr("L: list(type)").build();
  AttrMap types;
  infer_attrs(list, std::vector{DType::float32, DType::int32, DType::bool_}, types);
  CHECK(types == AttrMap{{"L", std::vector{DType::int32, DType::bool_}}});
}

TEST_CASE("schema: the signature is one line for people") {
  OpSchema op = SchemaBuilder("MatMul")
                    .input("a: T; b: T")
                    .output("product: T")
                    .attr("transpose_a: bool = false; T: {float, int32}; N: int >= 1")
                    .build();
  CHECK(op.signature() == "MatMul(a: T, b: T) -> product: T; transpose_a: bool = false; "
                          "T: type in {float, int32}; N: int >= 1");
}

TEST_CASE("registry: an unknown op is told with one that differs in case alone") {
  OpRegistry ops;
  const OpSchema& added =
      ops.add(SchemaBuilder("MatMul").not_differentiable("it is a test").build());
  CHECK(ops.find("MatMul") == &added);
  auto unknown = ops.lookup("Matmul");
  CHECK(unknown.status().code() == Code::not_found);
  CHECK(contains(unknown.status().message(), "Op type not registered 'Matmul'"));
  CHECK(contains(unknown.status().message(), "did you mean 'MatMul'?"));
  CHECK_FALSE(contains(ops.lookup("MatMull").status().message(), "did you mean"));
  CHECK_FALSE(contains(ops.lookup("Softmax").status().message(), "did you mean"));
  CHECK(ops.all() == std::vector{&added});
}

TEST_CASE("attributes: values are printed so that their kind shows") {
  CHECK(to_string(AttrValue(std::int64_t{3})) == "3");
  CHECK(to_string(AttrValue(3.0f)) == "3.0");
  CHECK(to_string(AttrValue(true)) == "true");
  CHECK(to_string(AttrValue(DType::float16)) == "DT_HALF");
  CHECK(to_string(AttrValue(std::string("a\"b"))) == "\"a\\\"b\"");
  CHECK(to_string(AttrValue(PartialShape({2, -1}))) == "{shape [2,?]}");
  CHECK(to_string(AttrValue(std::vector<std::int64_t>{1, 2})) == "[1, 2]");
  CHECK(to_string(AttrValue(std::vector<bool>{true, false})) == "[true, false]");
  CHECK(to_string(AttrValue(AttrPlaceholder{"T"})) == "$T");
  FunctionRef f{"f", std::make_shared<AttrMap>(AttrMap{{"T", DType::int32}})};
  CHECK(to_string(AttrValue(f)) == "{func f[T=DT_INT32]}");
}

TEST_CASE("attributes: a map keeps names in order and tells why a value cannot be had") {
  AttrMap attrs{{"b", true}, {"a", std::int64_t{1}}};
  attrs.set("a", std::int64_t{2});
  CHECK(attrs.size() == 2);
  CHECK(attrs.begin()->first == "a");
  CHECK(*attrs.get<std::int64_t>("a") == 2);
  CHECK(attrs.get_or<std::int64_t>("zz", 9) == 9);
  CHECK(contains(attrs.get<bool>("zz").status().message(), "No attr named 'zz'"));
  CHECK(contains(attrs.get<bool>("a").status().message(), "it is int, 2"));
  CHECK(attrs.erase("a"));
  CHECK_FALSE(attrs.erase("a"));
  using Entries = std::vector<std::pair<std::string, AttrValue>>;
  CHECK(AttrMap(Entries{{"b", true}, {"a", false}, {"b", std::int64_t{3}}}) ==
        AttrMap{{"a", false}, {"b", std::int64_t{3}}});
  CHECK(FunctionRef{"f", nullptr} == FunctionRef{"f", std::make_shared<AttrMap>()});
}
