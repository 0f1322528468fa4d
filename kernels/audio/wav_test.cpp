// DecodeWav, EncodeWav: expected values and texts are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::wav_test {
namespace {

using testing::OpCase;

std::string little(std::uint32_t value, int bytes) {
  std::string out;
  for (; bytes > 0; --bytes, value >>= 8)
    out += static_cast<char>(value & 0xFF);
  return out;
}

struct File {
  std::uint32_t length = 48;
  std::string riff = "RIFF", wave = "WAVE", before, extra, after;
  std::uint32_t format_size = 16, format = 1, channels = 2, rate = 8000, per_second = 32000,
                per_frame = 4, bits = 16, data_size = 12;
  std::string data = std::string("\0\0\xff\x7f\0\x40\0\xc0\0\0\0\x80", 12);

  std::string text() const {
    return str_cat(riff, little(length, 4), wave, before, "fmt ", little(format_size, 4),
                   little(format, 2), little(channels, 2), little(rate, 4), little(per_second, 4),
                   little(per_frame, 2), little(bits, 2), extra, "data", little(data_size, 4), data,
                   after);
  }
};

/// The case of a file that `change` makes of a good one.
OpCase decoded(std::string name, void (*change)(File&), std::string error = "") {
  File file;
  change(file);
  OpCase out{.name = std::move(name), .inputs = {to_literal(Tensor::scalar(file.text()))}};
  if (error.empty())
    out.outputs = {"f32[3,2] 0 0.999969482421875 0.5 -0.5 0 -1", "i32[] 8000"};
  out.error = std::move(error);
  return out;
}

OpCase asked_for(std::string name, std::int64_t channels, std::int64_t samples, std::string audio,
                 std::string error = "") {
  OpCase out = decoded(
      std::move(name), [](File&) {}, error);
  out.attrs = {{"desired_channels", channels}, {"desired_samples", samples}};
  if (error.empty())
    out.outputs[0] = std::move(audio);
  return out;
}

std::string encoded(std::uint32_t channels, std::uint32_t rate, std::string data) {
  File file;
  file.channels = channels;
  file.rate = rate;
  file.per_frame = 2 * channels;
  file.per_second = rate * file.per_frame;
  file.data_size = static_cast<std::uint32_t>(data.size());
  file.data = std::move(data);
  file.length = 36 + file.data_size;
  return to_literal(Tensor::scalar(file.text()));
}

} // namespace

TROUPE_OP_CASES(DecodeWav) {
  static const std::string junk = "JUNK" + little(2, 4) + "ab", odd = "ABCD" + little(2, 4) + "ab",
                           list = "LIST" + little(2, 4) + "ab";
  return {
      decoded("two channels", [](File&) {}),
      decoded("what recorders write before the format", [](File& f) { f.before = junk; }),
      decoded("a longer format",
              [](File& f) {
                f.format_size = 18;
                f.extra = little(0, 2);
              }),
      decoded("other chunks are passed over", [](File& f) { f.extra = f.after = list; }),
      asked_for("no channel, of more samples than there can be", 0, std::int64_t{1} << 62,
                "f32[4611686018427387904,0]"),
      asked_for("one channel of two", 1, -1, "f32[3,1] 0 0.5 0"),
      asked_for("more of both than there are", 3, 4,
                "f32[4,3] 0 0.999969482421875 0.999969482421875 0.5 -0.5 -0.5 0 -1 -1 0 0 0"),
      asked_for("fewer samples", -1, 1, "f32[1,2] 0 0.999969482421875"),
      asked_for("none", 0, 0, "f32[0,0]"),
      asked_for("a negative number of channels", -2, -1, "",
                "channels must be non-negative, got -2"),
      asked_for("a negative number of samples", -1, -2, "", "samples must be non-negative, got -2"),
      {.name = "no text",
       .inputs = {"str[] \"\""},
       .error = "Data too short when trying to read string"},
      {.name = "two texts",
       .inputs = {"str[2] \"\" \"\""},
       .error = "Shape must be rank 0 but is rank 1"},
      decoded(
          "data that is cut off", [](File& f) { f.data.resize(10); },
          "Data too short when trying to read string"),
      decoded(
          "less than a chunk at the end", [](File& f) { f.after = "x"; },
          "Data too short when trying to read string"),
      decoded(
          "another kind of file", [](File& f) { f.riff = "RIFX"; },
          "Header mismatch: Expected RIFF but found RIFX"),
      decoded(
          "another kind of RIFF", [](File& f) { f.wave = "WAVX"; },
          "Header mismatch: Expected WAVE but found WAVX"),
      decoded(
          "an unknown chunk before the format", [](File& f) { f.before = odd; },
          "Unexpected field ABCD"),
      decoded(
          "a format of another size", [](File& f) { f.format_size = 20; },
          "Bad format chunk size for WAV: Expected 16 or 18, but got20"),
      decoded(
          "samples that are floats", [](File& f) { f.format = 3; },
          "Bad audio format for WAV: Expected 1 (PCM), but got3"),
      decoded(
          "no channels", [](File& f) { f.channels = 0; },
          "Bad number of channels for WAV: Expected at least 1, but got 0"),
      decoded(
          "8 bits", [](File& f) { f.bits = 8; }, "Can only read 16-bit WAV files, but received 8"),
      decoded(
          "frames of another size", [](File& f) { f.per_frame = 3; },
          "Bad bytes per sample in WAV header: Expected 4 but got 3"),
      decoded(
          "seconds of another size", [](File& f) { f.per_second = 3; },
          "Bad bytes per second in WAV header: Expected 32000 but got 3 (sample_rate=8000, "
          "bytes_per_sample=4)"),
      decoded(
          "data twice", [](File& f) { f.after = "data" + little(0, 4); },
          "More than one data chunk found in WAV"),
      decoded(
          "a chunk of 4 GiB", [](File& f) { f.extra = "LIST" + little(UINT32_MAX, 4); },
          "WAV data chunk 'LIST' is too large: 4294967295 bytes, but the limit is 2147483647"),
      decoded(
          "a chunk that ends beyond the file", [](File& f) { f.extra = "LIST" + little(255, 4); },
          "No data chunk found in WAV"),
  };
}

TROUPE_OP_CASES(EncodeWav) {
  return {
      {.name = "two channels, rounded and clipped",
       .inputs = {"f32[3,2] 0 1 0.5 -0.5 1e-5 -2", "i32[] 8000"},
       .outputs = {encoded(2, 8000, File{}.data)}},
      {.name = "no samples", .inputs = {"f32[0,1]", "i32[] 8"}, .outputs = {encoded(1, 8, "")}},
      {.name = "what is no number is silence, what is infinite is loud",
       .inputs = {"f32[1,2] nan inf", "i32[] 8"},
       .outputs = {encoded(2, 8, std::string("\0\0\xff\x7f", 4))}},
      {.name = "one dimension",
       .inputs = {"f32[1] 0", "i32[] 8"},
       .error = "Shape must be rank 2 but is rank 1"},
      {.name = "several rates",
       .inputs = {"f32[1,1] 0", "i32[1] 8"},
       .error = "Shape must be rank 0 but is rank 1"},
      {.name = "no channels",
       .inputs = {"f32[1,0]", "i32[] 8"},
       .error = "num_channels must be in (0, 2^16), got: 0"},
      {.name = "no rate",
       .inputs = {"f32[1,1] 0", "i32[] 0"},
       .error = "sample_rate must be in (0, 2^32), got: 0"},
      {.name = "a negative rate",
       .inputs = {"f32[1,1] 0", "i32[] -1"},
       .error = "sample_rate must be in (0, 2^32), got: -1"},
  };
}

} // namespace troupe::wav_test
