#include "storage/checkpoint/tensor_slice.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"
#include "storage/message/message.hpp"

namespace troupe {
namespace {

using Extent = TensorSlice::Extent;

std::int64_t length_in(const Extent& extent, std::int64_t dim) {
  return extent.length == Extent::whole ? dim : extent.length;
}

// OrderedCode: numbers and text as bytes that sort like them.

void append_increasing(std::string& out, std::uint64_t value) {
  char bytes[9];
  int size = 0;
  for (; value > 0; value >>= 8)
    bytes[8 - size++] = static_cast<char>(value & 0xFF);
  out += static_cast<char>(size);
  out.append(bytes + 9 - size, static_cast<std::size_t>(size));
}

void append_text(std::string& out, std::string_view text) {
  for (char c : text) {
    out += c;
    if (c == '\0')
      out += '\xff';
    else if (c == '\xff')
      out += '\0';
  }
  out += '\0';
  out += '\1';
}

/// The first bits say how many bytes there are: one bit for each, after the sign.
void append_signed(std::string& out, std::int64_t value) {
  const std::uint64_t magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int size = 1; // 7 bits each, one of them the sign's
  while (size < 10 && magnitude >> (7 * size - 1) != 0)
    ++size;
  std::string bytes(static_cast<std::size_t>(size), value < 0 ? '\xff' : '\0');
  for (int i = 0; i < std::min(size, 8); ++i)
    bytes[static_cast<std::size_t>(size - 1 - i)] =
        static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
  for (int bit = 0; bit < size; ++bit) { // a header of `size` ones
    auto& byte = bytes[static_cast<std::size_t>(bit / 8)];
    byte = static_cast<char>(byte ^ (0x80 >> (bit % 8)));
  }
  out += bytes;
}

struct Box {
  std::vector<std::int64_t> start, length; // of what two slices have in common, in the full tensor
};

} // namespace

Result<TensorSlice> TensorSlice::parse(std::string_view text) {
  TensorSlice out;
  if (text.empty())
    return out;
  for (std::string_view part : str_split(text, ':')) {
    if (part == "-") {
      out.extents.push_back({});
      continue;
    }
    const auto numbers = str_split(part, ',');
    const auto start = numbers.size() == 2 ? parse_int(numbers[0]) : std::nullopt;
    const auto length = numbers.size() == 2 ? parse_int(numbers[1]) : std::nullopt;
    if (!start || !length)
      return invalid_argument(
          str_cat("Expected a pair of numbers or '-' but got '", part, "': string = ", text));
    if (*start < 0 || *length <= 0)
      return invalid_argument(
          str_cat("Expected non-negative start and positive length but got start = ", *start,
                  ", length = ", *length, ": string = ", text));
    out.extents.push_back({*start, *length});
  }
  return out;
}

std::string TensorSlice::to_string() const {
  std::string out;
  for (const Extent& extent : extents) {
    out += out.empty() ? "" : ":";
    if (extent.length == Extent::whole)
      out += "-";
    else
      str_append(out, extent.start, ",", extent.length);
  }
  return out;
}

std::string TensorSlice::to_message() const {
  MessageWriter out;
  for (const Extent& extent : extents) {
    MessageWriter one;
    if (extent.length != Extent::whole) {
      if (extent.start != 0)
        one.signed_integer(1, extent.start);
      one.signed_integer(2, extent.length);
    }
    out.message(1, one);
  }
  return out.take();
}

std::optional<TensorSlice> TensorSlice::from_message(std::string_view message) {
  TensorSlice out;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() != 1)
      continue;
    Extent extent;
    MessageReader one(in.bytes());
    while (one.next()) {
      if (one.field() == 1)
        extent.start = one.signed_integer();
      else if (one.field() == 2)
        extent.length = one.signed_integer();
    }
    if (!one.ok() || extent.start < 0 || extent.length < Extent::whole)
      return {};
    out.extents.push_back(extent);
  }
  if (!in.ok() || out.extents.size() > Shape::max_rank)
    return {};
  return out;
}

Result<Shape> TensorSlice::shape_in(const Shape& full) const {
  if (static_cast<int>(extents.size()) != full.rank())
    return internal(str_cat("Mismatching ranks: shape = ", full, ", slice = ", to_string()));
  std::vector<std::int64_t> dims;
  for (int i = 0; i < full.rank(); ++i) {
    const Extent& extent = extents[static_cast<std::size_t>(i)];
    const std::int64_t length = length_in(extent, full.dim(i));
    if (extent.start > full.dim(i) || length > full.dim(i) - extent.start)
      return internal(str_cat("Extent in dimension ", i, " out of bounds: shape = ", full,
                              ", slice = ", to_string()));
    dims.push_back(length);
  }
  return Shape::make(dims);
}

bool TensorSlice::is_whole(const Shape& full) const {
  const auto shape = shape_in(full);
  return shape.ok() && *shape == full;
}

bool have_common(const Shape& full, const TensorSlice& a, const TensorSlice& b) {
  for (std::size_t k = 0; k < a.extents.size(); ++k) {
    const std::int64_t dim = full.dim(static_cast<int>(k));
    const Extent &x = a.extents[k], &y = b.extents[k];
    if (x.start >= y.start + length_in(y, dim) || y.start >= x.start + length_in(x, dim))
      return false;
  }
  return true;
}

Status check_disjoint(std::span<const TensorSlice> slices, const Shape& full, std::size_t known) {
  constexpr std::size_t most = 10'000; // each is compared with each
  if (slices.size() > most)
    return resource_exhausted(
        str_cat("a tensor in ", slices.size(), " slices is not read; there may be ", most));
  for (std::size_t i = known; i < slices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (have_common(full, slices[i], slices[j]))
        return internal(str_cat("Overlapping slices: existing slice = ", slices[j],
                                ", new slice = ", slices[i]));
  return {};
}

Result<ShapeAndSlice> parse_shape_and_slice(std::string_view text) {
  const auto parts = str_split(text, ' ');
  if (parts.size() < 2)
    return invalid_argument(
        str_cat("Need least two elements in shape_and_slice specification: ", text));
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto dim = parse_int(parts[i]);
    if (!dim)
      return invalid_argument(str_cat("Non numerical dimension in shape_and_slice: ", text));
    dims.push_back(*dim);
  }
  TROUPE_ASSIGN(Shape full, Shape::make(dims));
  TROUPE_ASSIGN(TensorSlice slice, TensorSlice::parse(parts.back()));
  TROUPE_ASSIGN(Shape shape, slice.shape_in(full));
  return ShapeAndSlice{std::move(full), std::move(slice), std::move(shape)};
}

std::string slice_key(std::string_view name, const TensorSlice& slice) {
  std::string out;
  append_increasing(out, 0);
  append_text(out, name);
  append_increasing(out, slice.extents.size());
  for (const Extent& extent : slice.extents) {
    append_signed(out, extent.start);
    append_signed(out, extent.length);
  }
  return out;
}

bool is_slice_key(std::string_view key) {
  return key.size() > 3 && key.front() == '\0';
}

namespace {

/// Copies `length` boxes, dimension by dimension; the last in one piece.
struct Copier {
  const Tensor& from;
  Tensor& to;
  std::span<const std::int64_t> length;
  std::vector<std::int64_t> from_start, to_start, from_stride, to_stride;

  void run(std::size_t dim, std::int64_t from_at, std::int64_t to_at) const {
    if (dim == length.size())
      return copy(from_at, to_at, 1);
    from_at += from_start[dim] * from_stride[dim];
    to_at += to_start[dim] * to_stride[dim];
    if (dim + 1 == length.size())
      return copy(from_at, to_at, length[dim]);
    for (std::int64_t i = 0; i < length[dim]; ++i)
      run(dim + 1, from_at + i * from_stride[dim], to_at + i * to_stride[dim]);
  }
  void copy(std::int64_t from_at, std::int64_t to_at, std::int64_t n) const {
    if (from.dtype() == DType::string) {
      const auto in = from.data<std::string>().subspan(static_cast<std::size_t>(from_at),
                                                       static_cast<std::size_t>(n));
      std::ranges::copy(in, to.mutable_data<std::string>().begin() + to_at);
      return;
    }
    if (from.dtype() == DType::variant) {
      const auto in = from.data<Variant>().subspan(static_cast<std::size_t>(from_at),
                                                   static_cast<std::size_t>(n));
      std::ranges::copy(in, to.mutable_data<Variant>().begin() + to_at);
      return;
    }
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype()));
    std::memcpy(static_cast<char*>(to.mutable_raw()) + to_at * size,
                static_cast<const char*>(from.raw()) + from_at * size,
                static_cast<std::size_t>(n * size));
  }
};

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(shape.rank()), 1);
  for (std::size_t i = out.size(); i > 1; --i)
    out[i - 2] = out[i - 1] * shape.dim(static_cast<int>(i - 1));
  return out;
}

} // namespace

std::int64_t copy_common(const Shape& full, const TensorSlice& from_slice, const Tensor& from,
                         const TensorSlice& to_slice, Tensor& to) {
  std::vector<std::int64_t> length;
  Copier copier{from, to, {}, {}, {}, strides_of(from.shape()), strides_of(to.shape())};
  std::int64_t count = 1;
  for (std::size_t i = 0; i < from_slice.extents.size(); ++i) {
    const std::int64_t dim = full.dim(static_cast<int>(i));
    const Extent &a = from_slice.extents[i], &b = to_slice.extents[i];
    const std::int64_t start = std::max(a.start, b.start);
    const std::int64_t end = std::min(a.start + length_in(a, dim), b.start + length_in(b, dim));
    if (end <= start)
      return 0;
    length.push_back(end - start);
    count *= end - start;
    copier.from_start.push_back(start - a.start);
    copier.to_start.push_back(start - b.start);
  }
  copier.length = length;
  copier.run(0, 0, 0);
  return count;
}

} // namespace troupe
