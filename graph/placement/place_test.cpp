#include "graph/placement/place.hpp"

#include "core/base/strings.hpp"
#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

constexpr auto ps_cpu = "/job:ps/replica:0/task:0/device:CPU:0";
constexpr auto w0_cpu = "/job:worker/replica:0/task:0/device:CPU:0";
constexpr auto w0_gpu = "/job:worker/replica:0/task:0/device:GPU:0";
constexpr auto w1_cpu = "/job:worker/replica:0/task:1/device:CPU:0";

PlacementDevice device(std::string_view name) {
  auto parsed = DeviceName::parse(name);
  REQUIRE(parsed.ok());
  return {*parsed, *parsed->type, 1};
}

// Variables, switches on strings and the like have kernels for the CPU only; MatMul for both.
Result<std::vector<std::string>> kernels_of(const Node& node) {
  if (node.is_op("MatMul") || node.is_op("VariableV2") || node.is_op("Identity"))
    return std::vector<std::string>{"GPU", "CPU"};
  if (node.is_op("Less"))
    return std::vector<std::string>{"GPU"};
  if (node.is_op("AddN"))
    return not_found("No OpKernel was registered to support Op 'AddN'");
  return std::vector<std::string>{"CPU"};
}

PlacementOptions cluster(std::initializer_list<const char*> names) {
  PlacementOptions options;
  for (const char* name : names)
    options.devices.push_back(device(name));
  options.supported_types = kernels_of;
  return options;
}

struct Placed {
  OpRegistry ops = rewriting_test_ops();
  Graph graph{ops};
  Status status;
  std::string on(std::string_view node) { return graph.find(node)->assigned_device; }
};

Placed placed(std::string_view text, const PlacementOptions& options) {
  Placed out;
  out.graph = graph_of(text, out.ops);
  out.status = place(out.graph, options);
  return out;
}

void refuses(std::string_view text, const PlacementOptions& options, Code code,
             std::initializer_list<const char*> parts) {
  Placed p = placed(text, options);
  CHECK(p.status.code() == code);
  for (const char* part : parts)
    CHECK_MESSAGE(p.status.message().find(part) != std::string::npos, p.status.message());
  for (const Node* node : p.graph.nodes())
    CHECK_MESSAGE((node->assigned_device.empty() || text.find(" on ") != std::string::npos),
                  "an error leaves the graph unchanged");
}

} // namespace

TEST_CASE("place: without a request the best device type wins, then the first name") {
  Placed p = placed(R"(
    a = Placeholder[dtype=DT_FLOAT]()
    b = Neg(a)
    c = MatMul(a, b))",
                    cluster({w1_cpu, w0_gpu, w0_cpu, ps_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("b") == ps_cpu);
  CHECK(p.on("c") == w0_gpu);
}

TEST_CASE("place: a partial request narrows the choice") {
  Placed p = placed(R"(
    a = Placeholder[dtype=DT_FLOAT]() @"/job:ps"
    b = Neg(a) @"/task:1"
    c = MatMul(a, b) @"/job:worker/cpu:*"
    d = Neg(b) @"/job:worker")",
                    cluster({ps_cpu, w0_cpu, w0_gpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("a") == ps_cpu);
  CHECK(p.on("b") == w1_cpu);
  CHECK(p.on("c") == w0_cpu);
  CHECK(p.on("d") == w0_cpu);
}

TEST_CASE("place: the master's own task gets what asks for no task, or for any of its job") {
  PlacementOptions options = cluster({ps_cpu, w0_cpu, w0_gpu, w1_cpu});
  options.own_task = "/job:worker/replica:0/task:1";
  Placed p = placed(R"(
    a = Placeholder[dtype=DT_FLOAT]()
    b = Neg(a) @"/job:worker"
    c = Neg(a) @"/job:ps"
    d = Neg(a) @"/task:0"
    e = MatMul(a, a))",
                    options);
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("a") == w1_cpu);
  CHECK(p.on("b") == w1_cpu);
  CHECK(p.on("c") == ps_cpu);
  CHECK(p.on("d") == ps_cpu);
  CHECK(p.on("e") == w0_gpu); // types come first
}

TEST_CASE("place: nodes that are alike are decided once, and others each for itself") {
  PlacementOptions options = cluster({w0_cpu, w0_gpu, ps_cpu});
  int asked = 0;
  options.supported_types = [&](const Node& node) -> Result<std::vector<std::string>> {
    ++asked;
    bool is_double = node.attrs.get_or<DType>("T", DType::invalid) == DType::float64;
    return is_double ? std::vector<std::string>{"GPU"} : std::vector<std::string>{"CPU"};
  };
  std::string text = "a = Placeholder[dtype=DT_FLOAT]()\n"
                     "d = Placeholder[dtype=DT_DOUBLE]()\n";
  for (int i = 0; i < 100; ++i)
    str_append(text, "n", i, " = Neg(a)\nm", i, " = Square(a)\n");
  text += "p = Neg(a) @\"/job:worker\"\n"
          "q = Neg(d)\n"
          "r = Neg(a)\n";
  Placed p = placed(text, options);
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(asked <= 10);
  CHECK(p.on("n0") == ps_cpu);
  CHECK(p.on("n99") == ps_cpu);
  CHECK(p.on("m99") == ps_cpu);
  CHECK(p.on("p") == w0_cpu);
  CHECK(p.on("q") == w0_gpu);
  CHECK(p.on("r") == ps_cpu);
}

TEST_CASE("place: `loc:@` joins nodes, also through names that are not in the graph") {
  Placed p = placed(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/job:ps"
    a = Neg(x) @"/job:worker/task:1"
    b = Neg[_class=["loc:@a"]](x)
    c = Square[_class=["loc:@b"]](x)
    d = Neg[_class=["loc:@gone"]](x) @"/job:worker/task:0"
    e = Square[_class=["loc:@gone", "other"]](x))",
                    cluster({ps_cpu, w0_cpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("b") == w1_cpu);
  CHECK(p.on("c") == w1_cpu);
  CHECK(p.on("e") == w0_cpu);
}

TEST_CASE("place: a group goes where all its nodes have kernels") {
  Placed p = placed(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = MatMul(x, x)
    b = Neg[_class=["loc:@a"]](x))",
                    cluster({w0_cpu, w0_gpu}));
  REQUIRE(p.status.ok());
  CHECK(p.on("a") == w0_cpu);
  refuses(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Less(x, x)
    b = Neg[_class=["loc:@a"]](x))",
          cluster({w0_cpu, w0_gpu}), Code::invalid_argument,
          {"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}",
           "no device type supports both"});
}

TEST_CASE("place: the owner of a variable or resource decides for what uses it") {
  Placed p = placed(R"(
    v = VariableV2[dtype=DT_FLOAT]() @"/job:ps/cpu:0"
    init = Placeholder[dtype=DT_FLOAT]()
    assign = Assign(v, init) @"/job:worker/task:1"
    read = Identity(v) @"/job:worker/task:1"
    h = VarHandleOp[dtype=DT_FLOAT]() @"/job:ps"
    value = ReadVariableOp[dtype=DT_FLOAT](h) @"/job:worker"
    store = AssignVariableOp(h, value))",
                    cluster({ps_cpu, w0_cpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("assign") == ps_cpu);
  CHECK(p.on("read") == w1_cpu); // it takes the value, not the reference
  CHECK(p.on("value") == ps_cpu);
  CHECK(p.on("store") == ps_cpu);
}

TEST_CASE("place: a stack decides for what takes its handle into a loop, as in its gradient") {
  Placed p = placed(R"(
    size = Const[dtype=DT_INT32, value=i32[] -1]() @"/job:worker/task:1"
    stack = StackV2[elem_type=DT_FLOAT](size) @"/job:worker/task:1"
    enter = Enter[T=DT_RESOURCE, frame_name="f", is_constant=true](stack) @"/job:worker/task:0"
    one = Placeholder[dtype=DT_FLOAT]()
    push = StackPushV2[T=DT_FLOAT](enter, one) @"/job:worker/task:1")",
                    cluster({ps_cpu, w0_cpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  for (const char* node : {"stack", "enter", "push"})
    CHECK(p.on(node) == w1_cpu);
}

TEST_CASE("place: a node that has a device keeps it, and its group joins it") {
  Placed p = placed(str_cat(R"(
    v = VariableV2[dtype=DT_FLOAT]() @"/job:worker/task:0" on ")",
                            w1_cpu, R"("
    x = Placeholder[dtype=DT_FLOAT]()
    a = Assign(v, x) @"/job:ps")"),
                    cluster({ps_cpu, w0_cpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("v") == w1_cpu);
  CHECK(p.on("a") == w1_cpu);
  refuses(str_cat("v = VariableV2[dtype=DT_FLOAT]() on \"", w1_cpu, "\""), cluster({ps_cpu}),
          Code::internal, {"Assigned device '", w1_cpu, "does not match any device", ps_cpu});
}

TEST_CASE("place: a node without inputs follows its readers if they are on one device") {
  auto options = cluster({ps_cpu, w0_cpu, w1_cpu});
  constexpr auto text = R"(
    c = Const[dtype=DT_FLOAT, value=f32[] 1]()
    two = Const[dtype=DT_FLOAT, value=f32[] 1]()
    asked = Const[dtype=DT_FLOAT, value=f32[] 1]() @"/job:worker/task:0"
    a = Neg(c) @"/job:worker/task:1"
    b = Square(c) @"/job:worker/task:1"
    d = Add(two, asked) @"/job:worker/task:1"
    e = Neg(two) @"/job:worker/task:0")";
  Placed p = placed(text, options);
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("c") == w1_cpu);
  CHECK(p.on("two") == ps_cpu);
  CHECK(p.on("asked") == w0_cpu);
}

TEST_CASE("place: Shape, Size, Rank and fetches follow their input") {
  Placed p = placed(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x) @"/job:worker/task:1"
    s = Size(a)
    r = _Retval[index=0](a)
    elsewhere = Rank(a) @"/job:ps")",
                    cluster({ps_cpu, w1_cpu}));
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("s") == w1_cpu);
  CHECK(p.on("r") == w1_cpu);
  CHECK(p.on("elsewhere") == ps_cpu);
}

TEST_CASE("place: a request that no device meets is refused with what there is") {
  refuses(
      "a = NoOp() @\"/job:worker/task:7\"", cluster({ps_cpu, w0_cpu}), Code::invalid_argument,
      {"Cannot assign a device for operation a: ", "was explicitly assigned to /job:worker/task:7",
       "available devices are [ /job:ps/replica:0/task:0/device:CPU:0, "
       "/job:worker/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers "
       "to a valid device."});
  refuses("a = NoOp() @\"/gpu:0\"", cluster({w0_cpu, w0_gpu}), Code::invalid_argument,
          {"Could not satisfy explicit device specification '/device:GPU:0' because no supported "
           "kernel for GPU devices is available"});
  refuses("a = NoOp() @\"/job:worker/nonsense\"", cluster({w0_cpu}), Code::invalid_argument,
          {"the device of node 'a'", "nonsense"});
}

TEST_CASE("place: contradictions within a group name both nodes") {
  refuses(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x) @"/job:ps"
    b = Neg[_class=["loc:@a"]](x) @"/job:worker")",
          cluster({ps_cpu, w0_cpu}), Code::invalid_argument,
          {"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}",
           "incompatible jobs: '/job:worker' and '/job:ps'"});
}

TEST_CASE("place: an op without kernel is refused in the registry's words") {
  refuses("x = Placeholder[dtype=DT_FLOAT]()\na = AddN(x)", cluster({w0_cpu}), Code::not_found,
          {"No OpKernel was registered to support Op 'AddN'"});
  refuses("x = Placeholder[dtype=DT_FLOAT]()\na = Less(x, x)", cluster({w0_cpu}),
          Code::invalid_argument, {"operation a", "has kernels for GPU only"});
}

TEST_CASE("place: soft placement forgets type and id, and keeps the task") {
  auto options = cluster({ps_cpu, w0_cpu, w1_cpu});
  options.allow_soft_placement = true;
  Placed p = placed(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    a = Neg(x) @"/job:worker/task:1/device:GPU:3"
    b = Neg(x) @"/job:ps"
    c = Neg[_class=["loc:@b"]](x) @"/job:worker")",
                    options);
  REQUIRE_MESSAGE(p.status.ok(), p.status.to_string());
  CHECK(p.on("a") == w1_cpu);
  CHECK(p.on("c") == ps_cpu);
  refuses("a = NoOp() @\"/job:worker/task:7/gpu:0\"", options, Code::invalid_argument,
          {"was explicitly assigned to", "/task:7"});
}

TEST_CASE("place: names are compared as text, so task 10 comes before task 2") {
  Placed p = placed("a = NoOp()", cluster({"/job:w/replica:0/task:2/device:CPU:0",
                                           "/job:w/replica:0/task:10/device:CPU:0"}));
  REQUIRE(p.status.ok());
  CHECK(p.on("a") == "/job:w/replica:0/task:10/device:CPU:0");
}
