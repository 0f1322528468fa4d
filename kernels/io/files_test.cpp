// SaveV2, RestoreV2, MergeV2Checkpoints, ReadFile, WriteFile, MatchingFiles: on files of this
// machine.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "devices/file_host.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using testing::Interpreter;

/// An interpreter whose device may use a folder of its own. "@" in a graph's text stands for it.
struct Place {
  std::filesystem::path path;
  Interpreter interpreter;
  Place() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-io-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto files = open_files({path.string()});
    REQUIRE(files.ok());
    allow_files(interpreter.device().device(), *files);
  }
  ~Place() { std::filesystem::remove_all(path); }

  Result<std::vector<Tensor>> run(std::string text, const std::vector<std::string>& fetches) {
    for (std::size_t at; (at = text.find('@')) != std::string::npos;)
      text.replace(at, 1, path.string());
    auto graph = parse_graph(text, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    return interpreter.run(*graph, {}, fetches);
  }
  std::string error(const std::string& text, const std::string& fetch) {
    return run(text, {fetch}).status().to_string();
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr auto names = R"(
    prefix = Const[dtype=DT_STRING, value=str[] "@/new/c"]()
    names = Const[dtype=DT_STRING, value=str[2] "w" "s"]()
    slices = Const[dtype=DT_STRING, value=str[2] "" ""]()
)";
const std::string save = std::string(names) + R"(
    w = Const[dtype=DT_FLOAT, value=f32[2,2] 1 2 3 4]()
    s = Const[dtype=DT_STRING, value=str[1] "text"]()
    save = SaveV2(prefix, names, slices, w, s)
)";

} // namespace

TEST_CASE("io: what is saved is restored, and a folder is made for it") {
  Place place;
  REQUIRE(place.run(save, {"^save"}).ok());
  CHECK(std::filesystem::exists(place.path / "new/c.index"));
  CHECK(std::filesystem::exists(place.path / "new/c.data-00000-of-00001"));
  auto out = place.run(std::string(names) +
                           "r = RestoreV2[dtypes=[DT_FLOAT, DT_STRING]](prefix, names, slices)",
                       {"r:0", "r:1"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].to_string() == "f32[2,2] 1 2 3 4");
  CHECK((*out)[1].to_string() == "str[1] \"text\"");
}

TEST_CASE("io: slices are saved and restored") {
  Place place;
  REQUIRE(place
              .run(R"(
    prefix = Const[dtype=DT_STRING, value=str[] "@/c"]()
    names = Const[dtype=DT_STRING, value=str[2] "w" "w"]()
    slices = Const[dtype=DT_STRING, value=str[2] "2 2 0,1:-" "2 2 1,1:-"]()
    a = Const[dtype=DT_FLOAT, value=f32[1,2] 1 2]()
    b = Const[dtype=DT_FLOAT, value=f32[1,2] 3 4]()
    save = SaveV2(prefix, names, slices, a, b))",
                   {"^save"})
              .ok());
  auto out = place.run(R"(
    prefix = Const[dtype=DT_STRING, value=str[] "@/c"]()
    names = Const[dtype=DT_STRING, value=str[2] "w" "w"]()
    slices = Const[dtype=DT_STRING, value=str[2] "" "2 2 -:1,1"]()
    r = RestoreV2[dtypes=[DT_FLOAT, DT_FLOAT]](prefix, names, slices))",
                       {"r:0", "r:1"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].to_string() == "f32[2,2] 1 2 3 4");
  CHECK((*out)[1].to_string() == "f32[2,1] 2 4");
}

TEST_CASE("io: what cannot be restored is said in TensorFlow's words") {
  Place place;
  const std::string restore =
      std::string(names) + "r = RestoreV2[dtypes=[DT_FLOAT, DT_STRING]](prefix, names, slices)";
  CHECK(has(place.error(restore, "r"), "NOT_FOUND"));
  CHECK(has(place.error(restore, "r"), "Failed to find any matching files for "));
  REQUIRE(place.run(save, {"^save"}).ok());
  CHECK(has(place.error(std::string(names) +
                            "r = RestoreV2[dtypes=[DT_INT32, DT_STRING]](prefix, names, slices)",
                        "r"),
            "tensor_name = w; expected dtype int32 does not equal original dtype float"));
  CHECK(has(place.error(R"(
    prefix = Const[dtype=DT_STRING, value=str[] "@/new/c"]()
    names = Const[dtype=DT_STRING, value=str[1] "none"]()
    slices = Const[dtype=DT_STRING, value=str[1] ""]()
    r = RestoreV2[dtypes=[DT_FLOAT]](prefix, names, slices))",
                        "r"),
            "Key none not found in checkpoint"));
}

TEST_CASE("io: lists are saved and restored") {
  Place place;
  const std::string lists = std::string(names) + R"(
    one_name = Const[dtype=DT_STRING, value=str[1] "list"]()
    one_slice = Const[dtype=DT_STRING, value=str[1] ""]()
    rows = Const[dtype=DT_FLOAT, value=f32[2,2] 1 2 3 4]()
    shape = Const[dtype=DT_INT32, value=i32[1] 2]()
    list = TensorListFromTensor[element_dtype=DT_FLOAT, shape_type=DT_INT32](rows, shape)
    save = SaveV2(prefix, one_name, one_slice, list)
    restored = RestoreV2[dtypes=[DT_VARIANT]](prefix, one_name, one_slice)
    n = Const[dtype=DT_INT32, value=i32[] 1]()
    item = TensorListGetItem[element_dtype=DT_FLOAT](restored, n, shape))";
  REQUIRE(place.run(lists, {"^save"}).ok());
  auto out = place.run(lists, {"item"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].to_string() == "f32[2] 3 4");
}

TEST_CASE("io: inputs of SaveV2 and RestoreV2 that do not fit together") {
  Place place;
  const std::string lines = std::string(names) + R"(
    two = Const[dtype=DT_STRING, value=str[2] "a" "b"]()
    one = Const[dtype=DT_STRING, value=str[1] "a"]()
    flat = Const[dtype=DT_STRING, value=str[] "a"]()
    w = Const[dtype=DT_FLOAT, value=f32[] 1]()
    two_prefixes = SaveV2(two, one, one, w)
    no_vector = SaveV2(prefix, flat, one, w)
    lengths = SaveV2(prefix, two, one, w)
    tensors = SaveV2(prefix, two, two, w)
    wrong_count = RestoreV2[dtypes=[DT_FLOAT]](prefix, two, two)
    wrong_lengths = RestoreV2[dtypes=[DT_FLOAT]](prefix, one, two)
    spec = Const[dtype=DT_STRING, value=str[1] "2 0,1"]()
    wrong_spec = SaveV2(prefix, one, spec, w))";
  CHECK(has(place.error(lines, "^two_prefixes"),
            "Input prefix should have a single element, got 2 instead."));
  CHECK(has(place.error(lines, "^no_vector"),
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got [] and [1] "
            "instead."));
  CHECK(has(place.error(lines, "^lengths"),
            "tensor_names and shape_and_slices have different number of elements: 2 vs. 1"));
  CHECK(has(place.error(lines, "^tensors"), "Got 2 tensor names but 1 tensors."));
  CHECK(has(place.error(lines, "wrong_count"), "Got 2 tensor names, but 1 expected dtypes."));
  CHECK(has(place.error(lines, "wrong_lengths"),
            "tensor_names and shape_and_slices have different number of elements: 1 vs. 2"));
  CHECK(has(place.error(lines, "^wrong_spec"),
            "Slice in shape_and_slice specification does not match the shape of the tensor to "
            " save: 2 0,1, tensor: []"));
  CHECK_FALSE(std::filesystem::exists(place.path / "new/c.index"));
}

TEST_CASE("io: parts are merged, and their folder goes") {
  Place place;
  REQUIRE(place.run(save, {"^save"}).ok());
  REQUIRE(place
              .run(R"(
    parts = Const[dtype=DT_STRING, value=str[1] "@/new/c"]()
    to = Const[dtype=DT_STRING, value=str[] "@/all"]()
    merge = MergeV2Checkpoints(parts, to))",
                   {"^merge"})
              .ok());
  CHECK(std::filesystem::exists(place.path / "all.index"));
  CHECK_FALSE(std::filesystem::exists(place.path / "new"));
}

TEST_CASE("io: whole files are written, read and found") {
  Place place;
  REQUIRE(place
              .run(R"(
    name = Const[dtype=DT_STRING, value=str[] "@/a/b/c.txt"]()
    text = Const[dtype=DT_STRING, value=str[] "the text"]()
    write = WriteFile(name, text))",
                   {"^write"})
              .ok());
  auto out = place.run(R"(
    name = Const[dtype=DT_STRING, value=str[] "@/a/b/c.txt"]()
    read = ReadFile(name)
    pattern = Const[dtype=DT_STRING, value=str[2] "@/a/*/c*" "@/none*"]()
    match = MatchingFiles(pattern))",
                       {"read", "match"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].value<std::string>() == "the text");
  REQUIRE((*out)[1].num_elements() == 1);
  CHECK((*out)[1].value<std::string>() == (place.path / "a/b/c.txt").string());
  CHECK(
      has(place.error("n = Const[dtype=DT_STRING, value=str[] \"@/none\"]()\nr = ReadFile(n)", "r"),
          "No such file or directory"));
}

TEST_CASE("io: text is printed behind what a file has") {
  Place place;
  for (int i = 0; i < 2; ++i)
    REQUIRE(place
                .run(R"(
    text = Const[dtype=DT_STRING, value=str[] "a line"]()
    print = PrintV2[output_stream="file://@/log", end="<end>"](text))",
                     {"^print"})
                .ok());
  auto out =
      place.run("n = Const[dtype=DT_STRING, value=str[] \"@/log\"]()\nr = ReadFile(n)", {"r"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK((*out)[0].value<std::string>() == "a line<end>a line<end>");
  CHECK(has(place.error(R"(
    text = Const[dtype=DT_STRING, value=str[] "a line"]()
    print = PrintV2[output_stream="file:///etc/log"](text))",
                        "^print"),
            "--files=DIR"));
}

TEST_CASE("io: files beyond the allowed folders are refused with the remedy") {
  Place place;
  const std::string text = place.error(
      "n = Const[dtype=DT_STRING, value=str[] \"/etc/hostname\"]()\nr = ReadFile(n)", "r");
  CHECK(has(text, "PERMISSION_DENIED"));
  CHECK(has(text, "--files=DIR"));
  Interpreter without;
  auto graph = parse_graph("n = Const[dtype=DT_STRING, value=str[] \"a\"]()\nr = ReadFile(n)",
                           op_library().ops);
  CHECK(without.run(*graph, {}, {"r"}).status().code() == Code::permission_denied);
}

TROUPE_OP_CASES(ShardedFilename) {
  return {
      {.name = "part 1 of 3",
       .inputs = {"str[] \"a/b\"", "i32[] 1", "i32[] 3"},
       .outputs = {"str[] \"a/b-00001-of-00003\""}},
      {.name = "more than five digits",
       .inputs = {"str[] \"\"", "i32[] 123456", "i32[] 1234567"},
       .outputs = {"str[] \"-123456-of-1234567\""}},
      {.name = "a vector is refused",
       .inputs = {"str[1] \"a\"", "i32[] 1", "i32[] 3"},
       .error = "must be a scalar"},
  };
}

TROUPE_OP_CASES(ShardedFilespec) {
  return {
      {.name = "of 3",
       .inputs = {"str[] \"a/b\"", "i32[] 3"},
       .outputs = {"str[] \"a/b-\?\?\?\?\?-of-00003\""}},
      {.name = "a vector is refused",
       .inputs = {"str[] \"a\"", "i32[2] 1 2"},
       .error = "must be a scalar"},
  };
}

} // namespace troupe
