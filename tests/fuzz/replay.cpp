// Runs a fuzz target without a fuzzer.
//   fuzz_TARGET FOLDER                   over the files of a folder, so that what was found stays
//   found fuzz_TARGET --random COUNT SEED      over random bytes; an input that ends the process is
//   in random.bin
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int run_random(long count, unsigned long seed) {
  std::mt19937_64 source(seed);
  for (long i = 0; i < count; ++i) {
    std::vector<std::uint8_t> bytes(source() % 200 + 2);
    for (std::uint8_t& byte : bytes)
      byte = static_cast<std::uint8_t>(source());
    std::ofstream("random.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::filesystem::remove("random.bin");
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--random")
    return run_random(std::atol(argv[2]), std::strtoul(argv[3], nullptr, 10));
  if (argc != 2) {
    std::cerr << "usage: fuzz_TARGET FOLDER | --random COUNT SEED\n";
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::cout << path.filename().string() << std::endl; // at once: the last line names the culprit
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  if (files.empty()) {
    std::cerr << "no files in " << argv[1] << "\n";
    return 1;
  }
  return 0;
}
