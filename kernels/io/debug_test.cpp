// Debug ops: values as tables; what they write, on files of this machine.
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "devices/file_host.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

struct DebugPlace {
  std::filesystem::path path;
  testing::Interpreter interpreter;
  DebugPlace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-debug-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto files = open_files({path.string()});
    REQUIRE(files.ok());
    allow_files(interpreter.device().device(), *files);
  }
  ~DebugPlace() { std::filesystem::remove_all(path); }

  Status run(const std::string& op, const std::string& value, const std::string& attrs,
             std::string url = "") {
    if (url.empty())
      url = "file://" + path.string() + "/dump";
    auto graph = parse_graph("x = Const[dtype=DT_FLOAT, value=" + value + "]()\nd = " + op +
                                 "[device_name=\"/job:a/replica:0/task:0/device:CPU:0\", "
                                 "tensor_name=\"s/x:0\", debug_urls=[\"" +
                                 url + "\"]" + attrs + "](x)\n",
                             op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    return interpreter.run(*graph, {}, {"d"}).status();
  }
  std::size_t num_files(std::string_view part) const {
    std::size_t out = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      out += entry.path().string().find(part) != std::string::npos && entry.is_regular_file();
    return out;
  }
};

} // namespace

TEST_CASE("io: what a debugger watches is written below its folder") {
  DebugPlace place;
  REQUIRE(place.run("DebugIdentity", "f32[2] 1 2", "").ok());
  CHECK(place.num_files("/dump/_tfdbg_device_,job_a,replica_0,task_0,device_CPU_0/s/"
                        "x_0_DebugIdentity_") == 1);
  REQUIRE(place.run("DebugNanCount", "f32[2] 1 nan", "").ok());
  CHECK(place.num_files("x_0_DebugNanCount_") == 1);
  REQUIRE(place.run("DebugNumericSummary", "f32[2] 1 2", ", mute_if_healthy=true").ok());
  CHECK(place.num_files("x_0_DebugNumericSummary_") == 0);
  REQUIRE(place.run("DebugNumericSummary", "f32[2] 1 nan", ", mute_if_healthy=true").ok());
  CHECK(place.num_files("x_0_DebugNumericSummary_") == 1);
}

TEST_CASE("io: a debugger's folder is one that the node allows") {
  DebugPlace place;
  CHECK(place.run("DebugIdentity", "f32[] 1", "", "file:///elsewhere").code() ==
        Code::permission_denied);
  CHECK(place.run("DebugIdentity", "f32[] 1", "", "grpc://localhost:6064").code() ==
        Code::unimplemented);
}

TROUPE_OP_CASES(DebugIdentity) {
  return {
      {.name = "a matrix", .inputs = {"f32[2,2] 1 2 3 4"}, .outputs = {"f32[2,2] 1 2 3 4"}},
      {.name = "text", .inputs = {"str[1] \"a\""}, .outputs = {"str[1] \"a\""}},
      {.name = "nothing", .inputs = {"i32[0]"}, .outputs = {"i32[0]"}},
      {.name = "what was not assigned yet", .inputs = {"uninit f32"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(DebugNanCount) {
  return {
      {.name = "floats", .inputs = {"f32[2,2] nan 1 inf nan"}, .outputs = {"i64[1] 2"}},
      {.name = "doubles", .inputs = {"f64[] nan"}, .outputs = {"i64[1] 1"}},
      {.name = "halves", .inputs = {"f16[2] nan 1"}, .outputs = {"i64[1] 1"}},
      {.name = "integers", .inputs = {"i32[3] 1 2 3"}, .outputs = {"i64[1] 0"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"i64[1] 0"}},
      {.name = "what was not assigned yet", .inputs = {"uninit f32"}, .outputs = {"i64[1] 0"}},
  };
}

TROUPE_OP_CASES(DebugNumericSummary) {
  return {
      {.name = "each kind of element",
       .inputs = {"f32[2,4] -inf -2 0 3 inf nan 5 0"},
       .outputs = {"f64[16] 1 8 1 1 1 2 2 1 -2 5 1.2 6.16 1 2 2 4"}},
      {.name = "beyond bounds counts as infinite",
       .inputs = {"f64[4] -5 -1 1 5"},
       .attrs = {{"lower_bound", -5.0f}, {"upper_bound", 5.0f}},
       .outputs = {"f64[15] 1 4 0 1 1 0 1 1 -5 5 0 13 2 1 4"}},
      {.name = "bools",
       .inputs = {"bool[3] true false true"},
       .outputs = {"f64[15] 1 3 0 0 0 1 2 0 0 1 0.6666666666666666 0.2222222222222222 10 1 3"}},
      {.name = "nothing",
       .inputs = {"f32[0]"},
       .outputs = {"f64[15] 1 0 0 0 0 0 0 0 inf -inf nan nan 1 1 0"}},
      {.name = "what was not assigned yet",
       .inputs = {"uninit f32"},
       .outputs = {"f64[14] 0 0 0 0 0 0 0 0 inf -inf nan nan 1 0"}},
  };
}

} // namespace troupe
