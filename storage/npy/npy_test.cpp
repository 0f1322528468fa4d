#include "storage/npy/npy.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "storage/npy/internal/header.hpp"

namespace troupe {
namespace {

// A file of version 1.0 with this dict and these data.
std::string file_of(std::string_view dict, std::string_view data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(dict.size() & 0xFF));
  out.push_back(static_cast<char>(dict.size() >> 8));
  return str_cat(out, dict, data);
}

Tensor literal(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *std::move(tensor);
}

TEST_CASE("npy: what is written reads back") {
  for (std::string_view text :
       {"f32[2,3] 1 2 3 4 5 6", "f64[] 1.5", "f16[2] 1 -2", "i8[3] -1 0 1", "i16[1] -300",
        "i32[2,1,2] 1 2 3 4", "i64[1] -5000000000", "u8[2] 0 255", "u16[1] 65535",
        "u32[1] 4294967295", "u64[1] 18446744073709551615", "bool[3] true false true",
        "c64[1] (1,-2)", "c128[1] (1,-2)", "f32[0,4]", "str[2,2] \"a\" \"\" \"long text\" \"b\"",
        "str[] \"\""}) {
    CAPTURE(text);
    Tensor tensor = literal(text);
    auto bytes = to_npy(tensor);
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
    auto back = parse_npy(*bytes, "x");
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(equal(*back, tensor));
  }
}

TEST_CASE("npy: the bytes are those of NumPy") {
  auto bytes = to_npy(literal("i16[2] 1 -2"));
  REQUIRE(bytes.ok());
  CHECK(bytes->size() == 132);
  CHECK(bytes->substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(bytes->substr(10, 57) == "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }");
  CHECK(bytes->substr(127) == std::string("\n\x01\x00\xFE\xFF", 5));
}

TEST_CASE("npy: other orders of bytes and of elements become ours") {
  auto big = parse_npy(file_of("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }",
                               std::string_view("\x01\x02\xFF\xFE", 4)),
                       "x");
  REQUIRE(big.ok());
  CHECK(equal(*big, literal("i16[2] 258 -2")));
  auto columns = parse_npy(file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}",
                                   "\x01\x02\x03\x04\x05\x06"),
                           "x");
  REQUIRE(columns.ok());
  CHECK(equal(*columns, literal("u8[2,3] 1 3 5 2 4 6")));
  auto cube = parse_npy(file_of("{'shape': (2, 2, 2), 'descr': '|u1', 'fortran_order': True}",
                                std::string_view("\0\1\2\3\4\5\6\7", 8)),
                        "x");
  REQUIRE(cube.ok());
  CHECK(equal(*cube, literal("u8[2,2,2] 0 4 2 6 1 5 3 7")));
}

TEST_CASE("npy: Unicode becomes UTF-8") {
  auto text = parse_npy(file_of("{'descr': '<U2', 'fortran_order': False, 'shape': (2,)}",
                                std::string_view("\xE9\0\0\0\0\0\0\0\x00\xF6\x01\0x\0\0\0", 16)),
                        "x");
  REQUIRE_MESSAGE(text.ok(), text.status().to_string());
  CHECK(text->data<std::string>()[0] == "\xC3\xA9");
  CHECK(text->data<std::string>()[1] == "\xF0\x9F\x98\x80x");
}

TEST_CASE("npy: bytes that are no boolean become true") {
  auto flags = parse_npy(file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}",
                                 std::string_view("\x00\x01\x07", 3)),
                         "x");
  REQUIRE(flags.ok());
  CHECK(equal(*flags, literal("bool[3] false true true")));
}

TEST_CASE("npy: what is no array is refused with a reason") {
  struct Row {
    std::string bytes;
    std::string_view error;
  };
  auto dict = [](std::string_view descr, std::string_view shape, std::string_view data = "") {
    return file_of(str_cat("{'descr': ", descr, ", 'fortran_order': False, 'shape': ", shape, "}"),
                   data);
  };
  const Row rows[] = {
      {"", "x: it does not begin like an .npy file"},
      {"hello world, this is text", "x: it does not begin like an .npy file"},
      {"PK\3\4aaaaaaaaaaaaaaa", "x: it is an .npz archive"},
      {std::string("\x93NUMPY\x09\x00\x00\x00\x00\x00", 12), "x: it has format version 9.0"},
      {std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F{", 13),
       "x: its header claims 2147483647 bytes"},
      {std::string("\x93NUMPY\x01\x00\xFF\x00{'de", 14), "x: its header is cut short"},
      {file_of("", ""), "x: "},
      {file_of("{}", ""), "x: its header lacks"},
      {file_of("{'descr': '<f4', 'descr': '<f4'}", ""), "x: its header has the key 'descr' twice"},
      {file_of("{'evil': 1}", ""), "x: its header has the key 'evil' that no array has"},
      {file_of("{'descr': '<f4", ""), "x: its header is cut short"},
      {dict("'|O'", "(1,)"),
       "x: its elements are of NumPy's dtype '|O', Python objects, which are never read"},
      {dict("'<M8[ns]'", "(1,)"), "x: its elements are of NumPy's dtype '<M8[ns]'"},
      {dict("[('a', '<f4')]", "(1,)"), "arrays of records are not read"},
      {dict("'<f3'", "(1,)"), "x: its elements are of NumPy's dtype 'f3'"},
      {dict("''", "(1,)"), "which is none"},
      {dict("'<'", "(1,)"), "which is none"},
      {dict("'<f4'", "(-1,)"), "x: its header's 'shape' is no tuple of sizes"},
      {dict("'<f4'", "(1 2)"), "x: its header's 'shape' is no tuple of sizes"},
      {dict("'<f4'", "(99999999999999999999,)"), "x: its header's 'shape' is no tuple of sizes"},
      {dict("'<f4'", "(4611686018427387904, 4)"), "x: "},
      {dict("'<f8'", "(4611686018427387904,)"),
       "x: its shape [4611686018427387904] needs 18446744073709551615 bytes, but 0 follow"},
      {dict("'<f4'", "(1000000000000,)", "abcd"),
       "x: its shape [1000000000000] needs 4000000000000 bytes, but 4 follow"},
      {dict("'<f4'", "(1,)", "abc"), "was it cut short?"},
      {dict("'<f4'", "(1,)", "abcde"), "x: its shape [1] needs 4 bytes, but 5 follow"},
      {dict("'|S0'", "(1000000000000,)"), "too many empty texts"},
      {dict("'<U1'", "(1,)", "\xFF\xFF\xFF\x7F"), "x: its text has a character that Unicode lacks"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.error);
    auto tensor = parse_npy(row.bytes, "x");
    REQUIRE(!tensor.ok());
    CHECK_MESSAGE(tensor.status().message().find(row.error) != std::string::npos,
                  tensor.status().message());
  }
}

TEST_CASE("npy: no elements take no memory, however large each would be") {
  auto none = parse_npy(
      file_of("{'descr': '<U1073741824', 'fortran_order': False, 'shape': (0,), }", ""), "x");
  REQUIRE_MESSAGE(none.ok(), none.status().to_string());
  CHECK(equal(*none, Tensor::make(DType::string, {0})));
}

TEST_CASE("npy: any prefix of a good file is refused without harm") {
  auto bytes = to_npy(literal("i32[2] 1 2"));
  REQUIRE(bytes.ok());
  for (std::size_t n = 0; n < bytes->size(); ++n)
    CHECK(!parse_npy(bytes->substr(0, n), "x").ok());
}

TEST_CASE("npy: a dtype that NumPy lacks is refused with the remedy") {
  CHECK(to_npy(literal("bf16[1] 1")).status().message() ==
        "NumPy has no dtype for bfloat16; cast the tensor, to float for example");
  CHECK(to_npy(Tensor::scalar(std::string("a\0", 2))).status().code() == Code::unimplemented);
}

TEST_CASE("npy: files are written whole and read back") {
  std::string folder = std::filesystem::temp_directory_path() / "troupe-npy-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  std::string path = str_cat(folder, "/a.npy");
  Tensor tensor = literal("f32[2,2] 1 2 3 4");
  REQUIRE(write_npy(path, literal("i32[1] 7")).ok());
  Status written = write_npy(path, tensor);
  REQUIRE_MESSAGE(written.ok(), written.to_string());
  CHECK(access((path + ".part").c_str(), F_OK) != 0);
  auto back = read_npy(path);
  REQUIRE_MESSAGE(back.ok(), back.status().to_string());
  CHECK(equal(*back, tensor));
  REQUIRE(truncate(path.c_str(), 140) == 0);
  CHECK(read_npy(path).status().code() == Code::data_loss);
  std::remove(path.c_str());
  CHECK(read_npy(path).status().code() == Code::not_found);
  CHECK(read_npy(folder).status().message() == str_cat(folder, ": is no plain file"));
  rmdir(folder.c_str());
  CHECK(write_npy(path, tensor).message().starts_with(path + ": cannot be created"));
}

} // namespace
} // namespace troupe
