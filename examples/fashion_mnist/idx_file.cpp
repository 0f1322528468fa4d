#include "examples/fashion_mnist/idx_file.hpp"

#include <cstring>
#include <memory>

#include <zlib.h>

#include "core/base/strings.hpp"

namespace troupe::fashion_mnist {

namespace {

constexpr unsigned char unsigned_bytes = 8;
constexpr std::int64_t most_elements = 1 << 30;

struct Closer {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Closer>;

bool read_exactly(gzFile file, void* to, std::int64_t bytes) {
  return gzread(file, to, static_cast<unsigned>(bytes)) == bytes;
}

} // namespace

Result<Tensor> read_idx(const std::string& path) {
  File file(gzopen(path.c_str(), "rb"));
  if (!file)
    return not_found(str_cat("cannot open '", path, "': ", std::strerror(errno)));
  unsigned char magic[4];
  if (!read_exactly(file.get(), magic, 4) || magic[0] != 0 || magic[1] != 0 ||
      magic[2] != unsigned_bytes)
    return invalid_argument(str_cat("'", path, "' is not an IDX file of unsigned bytes"));
  std::vector<std::int64_t> dims;
  std::int64_t elements = 1;
  for (int i = 0; i < magic[3]; ++i) {
    unsigned char b[4];
    if (!read_exactly(file.get(), b, 4))
      return invalid_argument(str_cat("'", path, "' ends within its header"));
    dims.push_back(std::int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
    if (dims.back() > 0 && elements > most_elements / dims.back())
      return invalid_argument(str_cat("'", path, "' announces too many elements"));
    elements *= dims.back();
  }
  auto shape = Shape::make(dims); // up to 255 dimensions, one too many, may come
  if (!shape.ok())
    return shape.status().with_context(str_cat("'", path, "'"));
  Tensor out = Tensor::make(DType::uint8, *std::move(shape));
  if (!read_exactly(file.get(), out.mutable_raw(), elements))
    return invalid_argument(
        str_cat("'", path, "' has fewer than the ", elements, " bytes that its header announces"));
  return out;
}

} // namespace troupe::fashion_mnist
