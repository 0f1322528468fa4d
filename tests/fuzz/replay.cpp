// Runs a fuzz target without a fuzzer, also where there is no clang.
//   fuzz_TARGET FOLDER                       the files of a folder, so that what was found is
//   mended fuzz_TARGET --random COUNT SEED          random bytes fuzz_TARGET --mutate COUNT SEED
//   FOLDER   files of a folder, changed here and there
// An input that ends the process stays behind in random.bin.
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

using Bytes = std::vector<std::uint8_t>;
using Source = std::mt19937_64;

Bytes random_bytes(Source& source) {
  Bytes bytes(source() % 200 + 2);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(source());
  return bytes;
}

/// One change: a byte or a bit, a part taken out, doubled or cut off, or a part of `other` put in.
void change(Bytes& bytes, const Bytes& other, Source& source) {
  auto below = [&](std::size_t n) { return static_cast<std::ptrdiff_t>(source() % (n + 1)); };
  const std::ptrdiff_t at = below(bytes.size());
  const std::ptrdiff_t length = std::min<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(bytes.size()) - at, below(source() % 4 == 0 ? bytes.size() : 8));
  const auto where = bytes.begin() + at;
  constexpr std::uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '}', '[', ':', '-', '9'};
  switch (source() % 7) {
  case 0:
    if (where != bytes.end())
      *where ^= static_cast<std::uint8_t>(1u << source() % 8);
    return;
  case 1:
    std::fill(where, where + length, telling[source() % std::size(telling)]);
    return;
  case 2:
    bytes.insert(where, telling[source() % std::size(telling)]);
    return;
  case 3:
    bytes.erase(where, where + length);
    return;
  case 4: {
    const Bytes part(where, where + length);
    bytes.insert(bytes.begin() + below(bytes.size()), part.begin(), part.end());
    return;
  }
  case 5:
    bytes.resize(static_cast<std::size_t>(at));
    return;
  default: {
    const std::ptrdiff_t from = below(other.size());
    const std::ptrdiff_t count =
        std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(other.size()) - from, below(64));
    bytes.insert(where, other.begin() + from, other.begin() + from + count);
  }
  }
}

Bytes read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes{std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_of(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    std::cerr << "no files in " << folder << "\n";
  return files;
}

/// Random bytes, or changed ones of a folder.
int run_random(long count, unsigned long seed, const char* folder) {
  std::vector<Bytes> known;
  if (folder)
    for (const auto& path : files_of(folder))
      known.push_back(read(path));
  if (folder && known.empty())
    return 1;
  Source source(seed);
  for (long i = 0; i < count; ++i) {
    Bytes bytes = known.empty() ? random_bytes(source) : known[source() % known.size()];
    if (!known.empty())
      for (std::uint64_t changes = source() % 6 + 1; changes > 0; --changes)
        change(bytes, known[source() % known.size()], source);
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
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if ((mode == "--random" && argc == 4) || (mode == "--mutate" && argc == 5))
    return run_random(std::atol(argv[2]), std::strtoul(argv[3], nullptr, 10),
                      argc == 5 ? argv[4] : nullptr);
  if (argc != 2) {
    std::cerr << "usage: fuzz_TARGET FOLDER | --random COUNT SEED | --mutate COUNT SEED FOLDER\n";
    return 2;
  }
  const auto files = files_of(argv[1]);
  for (const auto& path : files) {
    std::cout << path.filename().string() << std::endl; // at once: the last line names the culprit
    const Bytes bytes = read(path);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return files.empty() ? 1 : 0;
}
