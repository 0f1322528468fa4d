#include "storage/npy/npy.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/strings.hpp"
#include "storage/npy/internal/header.hpp"

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are read and written as they lie in memory");

using npy::Header;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
/// Fills `to` with the next `bytes`; false at the end of the source.
using ReadBytes = std::function<bool(void* to, std::size_t bytes)>;

struct Kind {
  char kind;
  std::size_t size;
  DType dtype;
};
constexpr Kind kinds[] = {
    {'b', 1, DType::bool_},     {'i', 1, DType::int8},        {'i', 2, DType::int16},
    {'i', 4, DType::int32},     {'i', 8, DType::int64},       {'u', 1, DType::uint8},
    {'u', 2, DType::uint16},    {'u', 4, DType::uint32},      {'u', 8, DType::uint64},
    {'f', 2, DType::float16},   {'f', 4, DType::float32},     {'f', 8, DType::float64},
    {'c', 8, DType::complex64}, {'c', 16, DType::complex128},
};

// Bytes of an element in the file.
std::size_t stored_size(const Header& header) {
  return header.kind == 'U' ? 4 * header.item_size : header.item_size;
}

DType dtype_of_header(const Header& header) {
  if (header.kind == 'S' || header.kind == 'U')
    return DType::string;
  for (const Kind& k : kinds)
    if (k.kind == header.kind && k.size == header.item_size)
      return k.dtype;
  return DType::invalid;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    out.push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

// An element of fixed length, padded with zeros.
Result<std::string> decode_text(const Header& header, const char* bytes) {
  std::string out;
  if (header.kind == 'S') {
    out.assign(bytes, header.item_size);
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
  }
  std::vector<std::uint32_t> points(header.item_size);
  std::memcpy(points.data(), bytes, 4 * header.item_size);
  if (header.big_endian)
    for (std::uint32_t& p : points)
      p = __builtin_bswap32(p);
  while (!points.empty() && points.back() == 0)
    points.pop_back();
  for (std::uint32_t p : points) {
    if (p > 0x10FFFF)
      return invalid_argument("its text has a character that Unicode lacks");
    append_utf8(out, p);
  }
  return out;
}

void swap_bytes(std::span<std::byte> bytes, std::size_t size) {
  for (std::size_t i = 0; i + size <= bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
}

// Calls move(to, from) with the row-major and the column-major position of every element.
template <class Move>
void each_fortran_position(const Shape& shape, Move&& move) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  std::vector<std::int64_t> stride(index.size(), 1);
  for (int i = 1; i < shape.rank(); ++i)
    stride[static_cast<std::size_t>(i)] =
        stride[static_cast<std::size_t>(i - 1)] * shape.dim(i - 1);
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < shape.num_elements(); ++to) {
    move(static_cast<std::size_t>(to), static_cast<std::size_t>(from));
    for (int i = shape.rank() - 1; i >= 0; --i) {
      auto k = static_cast<std::size_t>(i);
      from += stride[k];
      if (++index[k] < shape.dim(i))
        break;
      from -= stride[k] * shape.dim(i);
      index[k] = 0;
    }
  }
}

Tensor to_row_major(const Tensor& tensor) {
  Tensor out = Tensor::make(tensor.dtype(), tensor.shape());
  if (tensor.dtype() == DType::string) {
    auto to = out.mutable_data<std::string>();
    auto from = tensor.data<std::string>();
    each_fortran_position(tensor.shape(), [&](std::size_t t, std::size_t f) { to[t] = from[f]; });
    return out;
  }
  std::size_t size = dtype_size(tensor.dtype());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  each_fortran_position(tensor.shape(), [&](std::size_t t, std::size_t f) {
    std::memcpy(to + t * size, from + f * size, size);
  });
  return out;
}

// `rest` bytes follow the header; all are checked before memory is taken.
Result<Tensor> read_data(const Header& header, std::uint64_t rest, const ReadBytes& read) {
  DType dtype = dtype_of_header(header);
  if (dtype == DType::invalid)
    return invalid_argument(str_cat("its elements are of NumPy's dtype '", header.kind,
                                    header.item_size,
                                    "'; convert it to a number, a boolean or text first"));
  auto wanted = static_cast<unsigned __int128>(header.shape.num_elements()) * stored_size(header);
  if (wanted != rest) {
    std::string sizes =
        str_cat("its shape ", header.shape, " needs ",
                static_cast<std::uint64_t>(std::min<unsigned __int128>(wanted, UINT64_MAX)),
                " bytes, but ", rest, " follow the header; ",
                wanted > rest ? "was it cut short?" : "the header belongs to a smaller array");
    return wanted > rest ? data_loss(sizes) : invalid_argument(sizes);
  }
  // An empty text takes no byte in the file, but a string object in memory.
  if (dtype == DType::string && header.item_size == 0 && header.shape.num_elements() > (1 << 20))
    return invalid_argument(str_cat("its shape ", header.shape, " has too many empty texts"));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(host_allocator(), dtype, header.shape));
  if (dtype == DType::string && rest > 0) {
    std::string element(stored_size(header), '\0');
    for (std::string& text : out.mutable_data<std::string>()) {
      if (!read(element.data(), element.size()))
        return data_loss("its data are cut short");
      TROUPE_ASSIGN(text, decode_text(header, element.data()));
    }
  } else if (dtype != DType::string) {
    std::span<std::byte> bytes(static_cast<std::byte*>(out.mutable_raw()),
                               static_cast<std::size_t>(rest));
    if (!read(bytes.data(), bytes.size()))
      return data_loss("its data are cut short");
    if (header.big_endian)
      swap_bytes(bytes, is_complex(dtype) ? header.item_size / 2 : header.item_size);
    if (dtype == DType::bool_)
      for (std::byte& b : bytes) // only 0 and 1 are booleans in C++
        b = b == std::byte{0} ? b : std::byte{1};
  }
  return header.fortran_order && header.shape.rank() > 1 ? to_row_major(out) : out;
}

Result<std::string> descr_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) {
    std::size_t longest = 1;
    for (const std::string& text : tensor.data<std::string>()) {
      if (text.ends_with('\0'))
        return unimplemented(
            "a text of the tensor ends with a zero byte, which an .npy file would lose");
      longest = std::max(longest, text.size());
    }
    return str_cat("|S", longest);
  }
  for (const Kind& k : kinds)
    if (k.dtype == tensor.dtype())
      return str_cat(k.size == 1 ? "|" : "<", k.kind, k.size);
  return unimplemented(str_cat("NumPy has no dtype for ", to_string(tensor.dtype()),
                               "; cast the tensor, to float for example"));
}

Result<std::string> padded_texts(const Tensor& tensor, std::string_view descr) {
  std::size_t size = *parse_uint(descr.substr(2));
  auto texts = tensor.data<std::string>();
  if (texts.size() > (std::size_t{1} << 40) / size)
    return resource_exhausted(str_cat("texts of ", size, " bytes each, ", texts.size(),
                                      " of them, are too much for an .npy file"));
  std::string out(texts.size() * size, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i].copy(out.data() + i * size, size);
  return out;
}

} // namespace

Result<Tensor> parse_npy(std::string_view bytes, std::string_view name) {
  auto header = npy::parse_header(bytes);
  if (!header)
    return header.status().with_context(name);
  std::string_view data = bytes.substr(header->data_begin);
  auto tensor = read_data(*header, data.size(), [&](void* to, std::size_t n) {
    if (n > data.size())
      return false;
    if (n > 0)
      std::memcpy(to, data.data(), n);
    data.remove_prefix(n);
    return true;
  });
  return tensor ? std::move(tensor) : Result<Tensor>(tensor.status().with_context(name));
}

Result<Tensor> read_npy(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  struct stat info {};
  if (!file || fstat(fileno(file.get()), &info) != 0) {
    std::string why = str_cat(path, ": cannot be opened: ", std::strerror(errno));
    return errno == EACCES ? permission_denied(why) : not_found(why);
  }
  if (!S_ISREG(info.st_mode))
    return invalid_argument(str_cat(path, ": is no plain file"));
  std::string front(
      std::min<std::size_t>(static_cast<std::size_t>(info.st_size), npy::max_header_bytes), '\0');
  if (std::fread(front.data(), 1, front.size(), file.get()) != front.size())
    return data_loss(str_cat(path, ": cannot be read"));
  auto header = npy::parse_header(front);
  if (!header)
    return header.status().with_context(path);
  std::fseek(file.get(), static_cast<long>(header->data_begin), SEEK_SET);
  std::uint64_t rest = static_cast<std::uint64_t>(info.st_size) - header->data_begin;
  auto tensor = read_data(*header, rest, [&](void* to, std::size_t n) {
    return std::fread(to, 1, n, file.get()) == n;
  });
  return tensor ? std::move(tensor) : Result<Tensor>(tensor.status().with_context(path));
}

Result<std::string> to_npy(const Tensor& tensor) {
  TROUPE_ASSIGN(std::string descr, descr_of(tensor));
  std::string out = npy::make_header(descr, tensor.shape());
  if (tensor.dtype() == DType::string) {
    TROUPE_ASSIGN(std::string texts, padded_texts(tensor, descr));
    return out + texts;
  }
  auto bytes = tensor.bytes();
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out;
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  auto bytes = to_npy(tensor);
  if (!bytes)
    return bytes.status().with_context(path);
  std::string part = path + ".part";
  auto failed = [&](std::string_view what) {
    Status status = unavailable(str_cat(path, ": cannot be ", what, ": ", std::strerror(errno)));
    std::remove(part.c_str());
    return status;
  };
  File file(std::fopen(part.c_str(), "wb"), std::fclose);
  if (!file)
    return failed("created");
  if (std::fwrite(bytes->data(), 1, bytes->size(), file.get()) != bytes->size() ||
      std::fclose(file.release()) != 0)
    return failed("written");
  if (std::rename(part.c_str(), path.c_str()) != 0)
    return failed("put in its place");
  return {};
}

} // namespace troupe
