#include "examples/fashion_mnist/idx_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

namespace troupe::fashion_mnist {

namespace {

// Gone at the end of the test.
struct TemporaryFile {
  TemporaryFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "idx-XXXXXX").string();
    int fd = mkstemp(pattern.data());
    REQUIRE(fd >= 0);
    close(fd);
    path = pattern;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

const std::string two_by_three{"\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xff", 18};

void write_plain(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace

TEST_CASE("idx: dimensions and elements, compressed or not") {
  TemporaryFile plain, packed;
  write_plain(plain.path, two_by_three);
  gzFile file = gzopen(packed.path.c_str(), "wb");
  REQUIRE(gzwrite(file, two_by_three.data(), 18) == 18);
  gzclose(file);
  Tensor wanted = Tensor::of<std::uint8_t>({2, 3}, {1, 2, 3, 4, 5, 255});
  for (const std::string& path : {plain.path, packed.path}) {
    auto read = read_idx(path);
    REQUIRE_MESSAGE(read.ok(), read.status().to_string());
    CHECK(equal(*read, wanted));
  }
}

TEST_CASE("idx: what is not IDX, or cut short, is refused by name") {
  TemporaryFile file;
  auto refusal = [&](const std::string& bytes) {
    write_plain(file.path, bytes);
    Status status = read_idx(file.path).status();
    CHECK(status.message().find(file.path) != std::string::npos);
    return status.code();
  };
  CHECK(refusal("") == Code::invalid_argument);
  CHECK(refusal("hello") == Code::invalid_argument);
  CHECK(refusal(two_by_three.substr(0, 10)) == Code::invalid_argument);
  CHECK(refusal(two_by_three.substr(0, 17)) == Code::invalid_argument);
  const std::string many_dimensions = std::string("\0\0\x08\xff", 4) + std::string(1020, 0);
  CHECK(refusal(many_dimensions) == Code::invalid_argument);
  std::string huge{"\0\0\x08\x02\x7f\xff\xff\xff\x7f\xff\xff\xff", 12};
  CHECK(refusal(huge) == Code::invalid_argument);
  CHECK(read_idx(file.path + ".not-there").status().code() == Code::not_found);
}

} // namespace troupe::fashion_mnist
