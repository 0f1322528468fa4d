#include "storage/npy/internal/header.hpp"

#include <vector>

#include "core/base/strings.hpp"

namespace troupe::npy {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

// Reads the dict from front to back: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class DictReader {
public:
  explicit DictReader(std::string_view text) : text_(text) {}

  Status read(Header& header) {
    bool seen[3] = {};
    TROUPE_TRY(expect('{'));
    while (skip(), !at('}')) {
      TROUPE_ASSIGN(std::string_view key, quoted());
      TROUPE_TRY(expect(':'));
      int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which])
        return invalid_argument(str_cat("its header has the key '", key, "' ",
                                        which < 0 ? "that no array has" : "twice"));
      seen[which] = true;
      TROUPE_TRY(which == 0 ? descr(header) : which == 1 ? order(header) : shape(header));
      skip();
      if (at(','))
        ++pos_;
      else if (!at('}'))
        return invalid_argument("its header is no Python dict");
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return invalid_argument("its header lacks 'descr', 'fortran_order' or 'shape'");
    return {};
  }

private:
  bool at(char c) const { return pos_ < text_.size() && text_[pos_] == c; }
  void skip() {
    while (at(' ') || at('\n') || at('\t'))
      ++pos_;
  }
  Status expect(char c) {
    skip();
    if (!at(c))
      return invalid_argument("its header is no Python dict");
    ++pos_;
    return {};
  }
  Result<std::string_view> quoted() {
    skip();
    if (!at('\'') && !at('"'))
      return invalid_argument(
          "its header has something else where text should stand; arrays of records are not read");
    char quote = text_[pos_++];
    std::size_t begin = pos_;
    while (pos_ < text_.size() && text_[pos_] != quote)
      ++pos_;
    if (pos_ == text_.size())
      return invalid_argument("its header is cut short");
    return text_.substr(begin, pos_++ - begin);
  }

  Status descr(Header& header) {
    TROUPE_ASSIGN(std::string_view text, quoted());
    auto refused = [&](std::string_view why) {
      return invalid_argument(str_cat("its elements are of NumPy's dtype '", text, "'", why));
    };
    if (text.size() < 2)
      return refused(", which is none");
    if (text.find('O') != std::string_view::npos)
      return refused(", Python objects, which are never read; save numbers or text instead");
    header.big_endian = text[0] == '>';
    std::string_view rest =
        std::string_view("<>|=").find(text[0]) == std::string_view::npos ? text : text.substr(1);
    auto size = parse_uint(rest.substr(1));
    if (!size || *size > (1ULL << 30))
      return refused("; convert it to a number, a boolean or text first");
    header.kind = rest[0];
    header.item_size = *size;
    return {};
  }

  Status order(Header& header) {
    skip();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(pos_).starts_with(word)) {
        header.fortran_order = value;
        pos_ += word.size();
        return {};
      }
    }
    return invalid_argument("its header's 'fortran_order' is neither True nor False");
  }

  Status shape(Header& header) {
    TROUPE_TRY(expect('('));
    std::vector<std::int64_t> dims;
    while (skip(), !at(')')) {
      std::size_t begin = pos_;
      while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9')
        ++pos_;
      auto dim = parse_int(text_.substr(begin, pos_ - begin));
      if (!dim || dims.size() > static_cast<std::size_t>(Shape::max_rank))
        return invalid_argument("its header's 'shape' is no tuple of sizes");
      dims.push_back(*dim);
      skip();
      if (at(','))
        ++pos_;
      else if (!at(')'))
        return invalid_argument("its header's 'shape' is no tuple of sizes");
    }
    ++pos_;
    TROUPE_ASSIGN(header.shape, Shape::make(dims));
    return {};
  }

  std::string_view text_;
  std::size_t pos_ = 0;
};

} // namespace

Result<Header> parse_header(std::string_view bytes) {
  if (bytes.starts_with("PK"))
    return invalid_argument("it is an .npz archive; unpack it and name one of its .npy files");
  if (!bytes.starts_with(magic) || bytes.size() < 12)
    return invalid_argument("it does not begin like an .npy file; write it with numpy.save");
  auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  std::size_t version = byte(6);
  if (version < 1 || version > 3)
    return invalid_argument(
        str_cat("it has format version ", version, ".", byte(7), "; versions 1 to 3 are read"));
  std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1)
    length |= byte(10) << 16 | byte(11) << 24;
  if (length > max_header_bytes - begin)
    return invalid_argument(str_cat("its header claims ", length, " bytes, more than the ",
                                    max_header_bytes, " that are read"));
  if (bytes.size() < begin + length)
    return invalid_argument("its header is cut short");
  Header header;
  header.data_begin = begin + length;
  TROUPE_TRY(DictReader(bytes.substr(begin, length)).read(header));
  return header;
}

std::string make_header(std::string_view descr, const Shape& shape) {
  std::string dict = str_cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                             str_join(shape.dims(), ", "), shape.rank() == 1 ? "," : "", "), }");
  bool is_long = dict.size() > 65000;
  std::size_t frame = is_long ? 12 : 10;
  dict.append(63 - (frame + dict.size()) % 64, ' ');
  dict.push_back('\n');
  std::string out(magic);
  out.push_back(is_long ? 2 : 1);
  out.push_back(0);
  for (std::size_t i = 0; i < (is_long ? 4 : 2); ++i)
    out.push_back(static_cast<char>(dict.size() >> (8 * i)));
  return out + dict;
}

} // namespace troupe::npy
