#include <doctest/doctest.h>

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/trace/counters.hpp"
#include "net/data/shared_region.hpp"

using namespace troupe;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::shared_ptr<SharedRegion> make(std::uint64_t bytes = 64 * mib) {
  auto out = SharedRegion::make(bytes);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

std::shared_ptr<ForeignRegion> adopt(const SharedRegion& region) {
  auto out = ForeignRegion::adopt(::dup(region.fd()), region.bytes());
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *std::move(out);
}

std::int64_t pages_of(const SharedRegion& region) {
  struct stat info {};
  ::fstat(region.fd(), &info);
  return info.st_blocks * 512;
}

/// Room for `limit` bytes.
class Limited final : public MemoryLimit {
public:
  explicit Limited(std::size_t limit) : left(limit) {}
  bool charge(std::size_t bytes) override {
    if (bytes > left)
      return false;
    left -= bytes;
    return true;
  }
  void discharge(std::size_t bytes) override { left += bytes; }
  std::string refusal() const override { return "the test wants it so"; }
  std::size_t left;
};

} // namespace

TEST_CASE(
    "shared region: what the sender writes is the receiver's memory, above and below the window") {
  auto region = make(2 * ForeignRegion::window);
  auto sender = adopt(*region);
  for (std::uint64_t offset :
       {std::uint64_t{0}, ForeignRegion::window - 5000, ForeignRegion::window + 4096}) {
    std::string bytes(10000, 'x');
    bytes.back() = 'z';
    auto filler = region->allocate(std::max<std::uint64_t>(offset, 1));
    auto range = region->allocate(bytes.size());
    REQUIRE(range.ok());
    REQUIRE(sender->write(range->offset, bytes.data(), bytes.size()).ok());
    CHECK(std::memcmp(range->buffer->data(), bytes.data(), bytes.size()) == 0);
    CHECK(range->buffer->is_unique());
  }
}

TEST_CASE("shared region: it can neither shrink nor grow, and nobody can change that") {
  auto region = make();
  CHECK(::ftruncate(region->fd(), 0) != 0);
  CHECK(::ftruncate(region->fd(), 128 * mib) != 0);
  CHECK(::fcntl(region->fd(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
}

TEST_CASE("shared region: memory counts against the limit as long as a tensor lives") {
  auto limit = std::make_shared<Limited>(3 * mib);
  auto region = make();
  {
    auto a = region->allocate(2 * mib, limit);
    REQUIRE(a.ok());
    CHECK(limit->left == mib);
    auto b = region->allocate(2 * mib, limit);
    REQUIRE(!b.ok());
    CHECK(b.status().code() == Code::resource_exhausted);
  }
  CHECK(limit->left == 3 * mib);
  CHECK(region->in_use() == 0);
}

TEST_CASE("shared region: a tensor outlives everybody's interest in the region") {
  auto before = counter("shared_regions").value();
  auto region = make();
  auto range = region->allocate(mib);
  REQUIRE(range.ok());
  region.reset();
  std::memset(range->buffer->data(), 1, mib);
  CHECK(counter("shared_regions").value() == before + 1);
  range->buffer = BufferRef();
  CHECK(counter("shared_regions").value() == before);
}

TEST_CASE("shared region: pages that two rounds did not need go back to the system") {
  auto region = make();
  {
    auto range = region->allocate(8 * mib);
    REQUIRE(range.ok());
    std::memset(range->buffer->data(), 1, 8 * mib);
  }
  CHECK(pages_of(*region) >= static_cast<std::int64_t>(8 * mib));
  region->trim();
  CHECK(region->kept() == 8 * mib); // needed in this round
  region->trim();
  CHECK(region->kept() == 8 * mib); // and in the one before
  region->trim();
  CHECK(region->kept() == 0);
  CHECK(pages_of(*region) == 0);
}

TEST_CASE("shared region: what a hostile peer passes is refused before it is used") {
  auto refused = [](int fd, std::uint64_t bytes) {
    auto out = ForeignRegion::adopt(fd, bytes);
    CHECK(out.status().code() == Code::failed_precondition);
  };
  int unsealed = ::memfd_create("x", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  REQUIRE(::ftruncate(unsealed, mib) == 0);
  refused(::dup(unsealed), mib); // could be taken away while we write
  REQUIRE(::fcntl(unsealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
  refused(unsealed, mib); // cannot be written
  // Of huge pages, where the kernel knows such: a hole in them may have nothing behind it.
  if (int huge = ::memfd_create("x", MFD_ALLOW_SEALING | MFD_CLOEXEC | MFD_HUGETLB); huge >= 0) {
    REQUIRE(::ftruncate(huge, 64 * mib) == 0);
    REQUIRE(::fcntl(huge, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    refused(huge, 64 * mib);
  }
  auto region = make();
  refused(::dup(region->fd()), region->bytes() * 2); // claims too much
  refused(::open("/dev/zero", O_RDWR | O_CLOEXEC), mib);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  refused(ends[0], mib);
  ::close(ends[1]);
  std::string path = "/proc/self/fd/" + std::to_string(region->fd());
  refused(::open(path.c_str(), O_RDONLY | O_CLOEXEC), region->bytes());
}

TEST_CASE("shared region: it takes addresses as its tensors come, not as its file is large") {
  auto region = make(SharedRegion::default_bytes());
  CHECK(region->mapped() <= 64 * mib);
  std::vector<SharedRegion::Range> tensors;
  auto sender = adopt(*region);
  // Written through the file, read where each was mapped.
  for (int i = 0; i < 60; ++i) {
    auto range = region->allocate(5 * mib);
    REQUIRE_MESSAGE(range.ok(), range.status().to_string());
    for (std::uint64_t offset : {std::uint64_t{0}, 5 * mib - 1}) {
      const char byte = static_cast<char>(i + 1);
      REQUIRE(sender->write(range->offset + offset, &byte, 1).ok());
      CHECK(static_cast<const char*>(range->buffer->data())[offset] == byte);
    }
    CHECK(region->offset_of(range->buffer->data()) == range->offset);
    tensors.push_back(*std::move(range));
  }
  const std::uint64_t mapped = region->mapped();
  CHECK(mapped >= 300 * mib);
  CHECK(mapped <= 600 * mib);
  tensors.clear();
  for (int i = 0; i < 60; ++i)
    tensors.push_back(*region->allocate(5 * mib));
  CHECK(region->mapped() == mapped);
  int local = 0;
  CHECK_FALSE(region->offset_of(&local));
}

TEST_CASE("shared region: a tensor that fits in no free part finds room when those are free") {
  auto region = make(1024 * mib);
  {
    std::vector<SharedRegion::Range> tensors;
    for (int i = 0; i < 90; ++i)
      tensors.push_back(*region->allocate(10 * mib));
    CHECK_FALSE(region->allocate(500 * mib).ok());
  }
  auto large = region->allocate(900 * mib);
  REQUIRE_MESSAGE(large.ok(), large.status().to_string());
  auto small = region->allocate(10 * mib);
  CHECK(small.ok());
  CHECK(region->mapped() <= 1024 * mib);
}
