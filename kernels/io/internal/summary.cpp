#include "kernels/io/internal/summary.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include <zlib.h>

#include "core/base/strings.hpp"

namespace troupe::io {
namespace {

/// Limits that grow by a tenth from 1e-12 to 1e20, on both sides of 0.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> all = [] {
    std::vector<double> out;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
      out.push_back(limit);
    out.push_back(DBL_MAX);
    std::vector<double> both;
    for (auto at = out.rbegin(); at != out.rend(); ++at)
      both.push_back(-*at);
    both.push_back(0);
    both.insert(both.end(), out.begin(), out.end());
    return both;
  }();
  return all;
}

struct Histogram {
  std::vector<double> counts = std::vector<double>(bucket_limits().size());
  double least = DBL_MAX, most = -DBL_MAX, number = 0, sum = 0, squares = 0;

  void add(double value) {
    const auto& limits = bucket_limits();
    const auto at = std::ranges::upper_bound(limits, value) - limits.begin();
    counts[std::min(static_cast<std::size_t>(at), counts.size() - 1)] += 1;
    least = std::min(least, value);
    most = std::max(most, value);
    ++number;
    sum += value;
    squares += value * value;
  }

  /// A run of empty buckets is one.
  MessageWriter message() const {
    MessageWriter limits, filled, out;
    for (std::size_t i = 0; i < counts.size();) {
      double end = bucket_limits()[i], count = counts[i];
      ++i;
      for (; count <= 0 && i < counts.size() && counts[i] <= 0; ++i)
        end = bucket_limits()[i];
      limits.raw(&end, sizeof end);
      filled.raw(&count, sizeof count);
    }
    const double all[] = {least, most, number, sum, squares};
    for (int i = 0; i < 5; ++i)
      if (all[i] != 0)
        out.real(i + 1, all[i]);
    return out.message(6, limits).message(7, filled);
  }
};

void append_big(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xFF);
}

void append_little(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> 8 * i & 0xFF);
}

void append_chunk(std::string& out, std::string_view kind, std::string_view data) {
  append_big(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  out += kind;
  out += data;
  append_big(
      out, static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(out.data() + begin),
                                              static_cast<uInt>(out.size() - begin))));
}

} // namespace

Result<MessageWriter> histogram_message(const Tensor& values, std::string_view node) {
  Histogram out;
  TROUPE_TRY(dispatch(SummaryNumbers{}, values.dtype(), [&]<class T>() -> Status {
    for (const T& value : values.data<T>()) {
      double number = 0;
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        number = static_cast<double>(static_cast<float>(value));
      else
        number = static_cast<double>(value);
      if (std::isnan(number))
        return invalid_argument(str_cat("Nan in summary histogram for: ", node));
      if (std::isinf(number))
        return invalid_argument(str_cat("Infinity in Histogram for: ", node));
      out.add(number);
    }
    return {};
  }));
  return out.message();
}

namespace {

/// What PNG's filter `kind` predicts of a byte: from those to its left, above it, and both.
int predicted(int kind, int left, int above, int corner) {
  if (kind < 4)
    return kind == 0 ? 0 : kind == 1 ? left : kind == 2 ? above : (left + above) / 2;
  const int by_left = std::abs(above - corner), by_above = std::abs(left - corner);
  const int by_corner = std::abs(left + above - 2 * corner);
  if (by_left <= by_above && by_left <= by_corner)
    return left;
  return by_above <= by_corner ? above : corner;
}

/// Appends a row under the filter that leaves the least numbers, as most writers choose it.
void append_row(std::string& out, const std::uint8_t* row, const std::uint8_t* above,
                std::size_t size, std::size_t pixel) {
  std::string best, now;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int kind = 0; kind < 5; ++kind) {
    now.assign(1, static_cast<char>(kind));
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const int left = i >= pixel ? row[i - pixel] : 0, up = above ? above[i] : 0;
      const int corner = above && i >= pixel ? above[i - pixel] : 0;
      const auto rest = static_cast<std::uint8_t>(row[i] - predicted(kind, left, up, corner));
      sum += std::min<int>(rest, 256 - rest);
      now += static_cast<char>(rest);
    }
    if (sum < least) {
      least = sum;
      best.swap(now);
    }
  }
  out += best;
}

} // namespace

Result<std::string> png_file(const std::uint8_t* pixels, int height, int width, int channels,
                             int bits, int level) {
  const auto pixel = static_cast<std::size_t>(channels) * static_cast<std::size_t>(bits / 8);
  const auto row = static_cast<std::size_t>(width) * pixel;
  std::string rows;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* at = pixels + row * static_cast<std::size_t>(y);
    append_row(rows, at, y > 0 ? at - row : nullptr, row, pixel);
  }
  uLongf size = ::compressBound(static_cast<uLong>(rows.size()));
  std::string data(size, '\0');
  if (::compress2(reinterpret_cast<Bytef*>(data.data()), &size,
                  reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()),
                  level) != Z_OK)
    return Status(Code::resource_exhausted, "PNG encoding failed for lack of memory");
  data.resize(size);
  std::string header;
  append_big(header, static_cast<std::uint32_t>(width));
  append_big(header, static_cast<std::uint32_t>(height));
  constexpr char colors[] = {0, 4, 2, 6}; // gray, gray and alpha, RGB, RGBA
  header.append({static_cast<char>(bits), colors[channels - 1], 0, 0, 0});
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk(out, "IHDR", header);
  constexpr std::size_t most = 1 << 30; // of one chunk
  for (std::size_t at = 0; at < data.size(); at += most)
    append_chunk(out, "IDAT", std::string_view(data).substr(at, most));
  append_chunk(out, "IEND", "");
  return out;
}

std::string wav_file(std::span<const float> samples, std::uint32_t rate, int channels) {
  constexpr std::uint32_t bytes = 2; // of a sample
  const auto size = static_cast<std::uint32_t>(samples.size()) * bytes;
  const auto frame = static_cast<std::uint32_t>(channels) * bytes;
  std::string out = "RIFF";
  append_little(out, 36 + size, 4);
  out += "WAVEfmt ";
  append_little(out, 16, 4);
  append_little(out, 1, 2); // plain samples
  append_little(out, static_cast<std::uint32_t>(channels), 2);
  append_little(out, rate, 4);
  append_little(out, rate * frame, 4);
  append_little(out, frame, 2);
  append_little(out, 8 * bytes, 2);
  out += "data";
  append_little(out, size, 4);
  for (float sample : samples) {
    const float scaled = std::clamp(std::round(sample * 32768.0F), -32768.0F, 32767.0F);
    append_little(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(scaled)), 2);
  }
  return out;
}

} // namespace troupe::io
