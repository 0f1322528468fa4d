#include "storage/debug_dump/debug_dump.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/files/file_system.hpp"
#include "storage/message/message.hpp"

using namespace troupe;

namespace {

constexpr std::string_view device = "/job:ps/replica:0/task:1/device:CPU:0";
constexpr std::string_view folder = "_tfdbg_device_,job_ps,replica_0,task_1,device_CPU_0";

struct Folder {
  std::filesystem::path path;
  std::shared_ptr<AllowedFiles> files;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-dump-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto made = AllowedFiles::make({path.string()}, local_files());
    REQUIRE(made.ok());
    files = *made;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string root() const { return (path / "a/dump").string(); }
  std::string text(std::string_view name) const {
    std::ifstream in(path / "a/dump" / name, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), name);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  bool has(std::string_view name) const { return std::filesystem::exists(path / "a/dump" / name); }
  std::string only_name_with(std::string_view part) const {
    std::string out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path / "a/dump"))
      if (entry.path().filename().string().find(part) != std::string::npos &&
          entry.is_regular_file()) {
        CHECK(out.empty());
        out = std::filesystem::relative(entry.path(), path / "a/dump").string();
      }
    return out;
  }
};

// The last of the fields of that number, looking down the path of messages.
std::string field(std::string message, std::initializer_list<int> path) {
  for (int number : path) {
    std::string found;
    MessageReader in(message);
    while (in.next())
      if (in.field() == number)
        found = in.is_bytes() ? std::string(in.bytes()) : std::to_string(in.integer());
    CHECK(in.ok());
    message = found;
  }
  return message;
}

} // namespace

TEST_CASE("debug dump: a URL is a folder of the machine") {
  CHECK(*dump_folder_of("file:///tmp/x") == "/tmp/x");
  CHECK(*dump_folder_of("FILE:///tmp/x") == "/tmp/x");
  for (const char* url : {"grpc://localhost:6000", "", "file://", "/tmp/x", "memcbk:///x"})
    CHECK(dump_folder_of(url).status().code() == Code::unimplemented);
}

TEST_CASE_FIXTURE(Folder, "debug dump: a value is an event of a file that names it") {
  const DumpedTensor what{std::string(device), "scope/x", 1, "DebugIdentity"};
  REQUIRE(dump_tensor(*files, root(), what, Tensor::of<float>({2, 1}, {1, 2}), DType::float32, 77)
              .ok());
  const std::string event = text(str_cat(folder, "/scope/x_1_DebugIdentity_77"));
  CHECK(field(event, {5, 1, 1}) == "scope/x");
  CHECK(field(event, {5, 1, 7}) == "scope/x:1:DebugIdentity");
  CHECK(field(event, {5, 1, 9, 1, 1}) == "debugger");
  CHECK(field(event, {5, 1, 9, 1, 2}).find("\"outputSlot\":1") != std::string::npos);
  CHECK(field(event, {5, 1, 8, 1}) == "1"); // DT_FLOAT
  CHECK(field(event, {5, 1, 8, 4}).size() == 8);
  CHECK(field(event, {5, 1, 8, 2, 2, 1}) == "1"); // the last dimension
}

TEST_CASE_FIXTURE(Folder, "debug dump: of one time, each value has a file of its own") {
  const DumpedTensor what{std::string(device), "x", 0, "DebugIdentity"};
  for (int i = 0; i < 3; ++i)
    REQUIRE(
        dump_tensor(*files, root(), what, Tensor::scalar<std::int32_t>(i), DType::int32, 5).ok());
  for (const char* end : {"5", "5-1", "5-2"})
    CHECK(has(str_cat(folder, "/x_0_DebugIdentity_", end)));
}

TEST_CASE_FIXTURE(Folder, "debug dump: texts, and what has no value yet") {
  const DumpedTensor text_of{std::string(device), "t", 0, "DebugIdentity"};
  REQUIRE(dump_tensor(*files, root(), text_of, Tensor::vector<std::string>({"a", "bc"}),
                      DType::string, 1)
              .ok());
  CHECK(field(text(str_cat(folder, "/t_0_DebugIdentity_1")), {5, 1, 8, 8}) == "bc");
  const DumpedTensor unset{std::string(device), "v", 0, "DebugIdentity"};
  REQUIRE(dump_tensor(*files, root(), unset, Tensor(), DType::float64, 1).ok());
  const std::string event = text(str_cat(folder, "/v_0_DebugIdentity_1"));
  CHECK(field(event, {5, 1, 8, 1}) == "2");
  CHECK(field(event, {5, 1, 8, 4}).empty());
}

TEST_CASE_FIXTURE(Folder, "debug dump: a device's graph, and what was run") {
  REQUIRE(dump_graph(*files, root(), std::string(device), "graph", 9).ok());
  CHECK(field(text(only_name_with("_tfdbg_graph_hash")), {4}) == "graph");
  REQUIRE(dump_run(*files, root(), {42, 3, 1, {"x:0"}, {"y:0", "z\"q:0"}, {}}, 9).ok());
  CHECK(field(text("_tfdbg_core_metadata_sessionrun00000000000003_9"), {6, 2}) ==
        R"({"global_step":42,"session_run_index":3,"executor_step_index":1,"input_names":["x:0"],)"
        R"("output_names":["y:0","z\"q:0"],"target_nodes":[]})");
}

TEST_CASE_FIXTURE(Folder, "debug dump: nothing is written outside of the allowed folders") {
  const Tensor one = Tensor::scalar(1.0f);
  const DumpedTensor up{std::string(device), "../../../../x", 0, "DebugIdentity"};
  CHECK(dump_tensor(*files, root(), up, one, DType::float32, 1).code() == Code::permission_denied);
  const DumpedTensor what{std::string(device), "x", 0, "DebugIdentity"};
  CHECK(dump_tensor(*files, "/elsewhere", what, one, DType::float32, 1).code() ==
        Code::permission_denied);
}
