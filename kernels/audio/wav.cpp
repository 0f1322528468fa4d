// DecodeWav, EncodeWav: sound as a WAV file of 16 bits for each sample, and back.
#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::audio_wav {
namespace {

/// Reads a file from its beginning. Errors are INVALID_ARGUMENT in TensorFlow's words.
class Reader {
public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  bool at_end() const { return rest_.empty(); }
  Result<std::string_view> bytes(std::size_t count) {
    if (count > rest_.size())
      return invalid_argument("Data too short when trying to read string");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  template <class T>
  Result<T> number() {
    TROUPE_ASSIGN(const std::string_view text, bytes(sizeof(T)));
    T out;
    std::memcpy(&out, text.data(), sizeof out); // little endian, as the file is
    return out;
  }
  Status expect(std::string_view wanted) {
    TROUPE_ASSIGN(const std::string_view found, bytes(wanted.size()));
    return found == wanted ? Status{}
                           : invalid_argument(str_cat("Header mismatch: Expected ", wanted,
                                                      " but found ", found));
  }
  /// Beyond the end, too: files end so.
  void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }

private:
  std::string_view rest_;
};

struct Sound {
  std::uint32_t rate = 0;
  std::uint16_t channels = 0;
  std::string_view samples; ///< int16 of each channel, frame by frame
  std::int64_t frames = 0;
};

constexpr std::string_view chunks_before_format[] = {"JUNK", "bext", "iXML", "qlty",
                                                     "mext", "levl", "link", "axml"};

Status read_format(Reader& file, Sound& out) {
  TROUPE_ASSIGN(std::string_view chunk, file.bytes(4));
  while (chunk != "fmt ") {
    if (std::ranges::find(chunks_before_format, chunk) == std::end(chunks_before_format))
      return invalid_argument(str_cat("Unexpected field ", chunk));
    TROUPE_ASSIGN(const auto size, file.number<std::uint32_t>());
    file.skip(size);
    TROUPE_ASSIGN(chunk, file.bytes(4));
  }
  TROUPE_ASSIGN(const auto size, file.number<std::uint32_t>());
  if (size != 16 && size != 18)
    return invalid_argument(
        str_cat("Bad format chunk size for WAV: Expected 16 or 18, but got", size));
  TROUPE_ASSIGN(const auto format, file.number<std::uint16_t>());
  if (format != 1)
    return invalid_argument(str_cat("Bad audio format for WAV: Expected 1 (PCM), but got", format));
  TROUPE_ASSIGN(out.channels, file.number<std::uint16_t>());
  if (out.channels < 1)
    return invalid_argument(
        str_cat("Bad number of channels for WAV: Expected at least 1, but got ", out.channels));
  TROUPE_ASSIGN(out.rate, file.number<std::uint32_t>());
  TROUPE_ASSIGN(const auto bytes_per_second, file.number<std::uint32_t>());
  TROUPE_ASSIGN(const auto bytes_per_frame, file.number<std::uint16_t>());
  TROUPE_ASSIGN(const auto bits, file.number<std::uint16_t>());
  if (bits != 16)
    return invalid_argument(str_cat("Can only read 16-bit WAV files, but received ", bits));
  if (const int expected = 2 * out.channels; bytes_per_frame != expected)
    return invalid_argument(str_cat("Bad bytes per sample in WAV header: Expected ", expected,
                                    " but got ", bytes_per_frame));
  if (const std::uint32_t expected = bytes_per_frame * out.rate; bytes_per_second != expected)
    return invalid_argument(str_cat("Bad bytes per second in WAV header: Expected ", expected,
                                    " but got ", bytes_per_second, " (sample_rate=", out.rate,
                                    ", bytes_per_sample=", bytes_per_frame, ")"));
  file.skip(size - 16);
  return {};
}

Result<Sound> read_sound(std::string_view contents) {
  Reader file(contents);
  Sound out;
  TROUPE_TRY(file.expect("RIFF"));
  TROUPE_TRY(file.number<std::uint32_t>().status()); // the file's length, which many get wrong
  TROUPE_TRY(file.expect("WAVE"));
  TROUPE_TRY(read_format(file, out));
  bool is_found = false;
  while (!file.at_end()) {
    TROUPE_ASSIGN(const std::string_view chunk, file.bytes(4));
    TROUPE_ASSIGN(const auto size, file.number<std::uint32_t>());
    if (size > INT32_MAX)
      return invalid_argument(str_cat("WAV data chunk '", chunk, "' is too large: ", size,
                                      " bytes, but the limit is ", INT32_MAX));
    if (chunk != "data") {
      file.skip(size);
      continue;
    }
    if (is_found)
      return invalid_argument("More than one data chunk found in WAV");
    is_found = true;
    const std::uint32_t frame = 2U * out.channels;
    out.frames = size / frame;
    TROUPE_ASSIGN(out.samples, file.bytes(size - size % frame));
  }
  if (!is_found)
    return invalid_argument("No data chunk found in WAV");
  return out;
}

/// A number of samples or channels that is asked for; -1: as many as the file has.
Result<std::int64_t> wanted(const AttrMap& attrs, const char* attr, std::string_view what) {
  const auto count = attrs.get_or<std::int64_t>(attr, -1);
  if (count < -1)
    return invalid_argument(str_cat(what, " must be non-negative, got ", count));
  return count;
}

Status infer_decoded(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_ASSIGN(const std::int64_t channels, wanted(c.attrs(), "desired_channels", "channels"));
  TROUPE_ASSIGN(const std::int64_t samples, wanted(c.attrs(), "desired_samples", "samples"));
  TROUPE_TRY(c.set_output(0, PartialShape{samples, channels}));
  return c.set_output(1, PartialShape(std::vector<std::int64_t>{}));
}

Status decode(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(str_cat("contents must be scalar, got shape ", c.input(0).shape()));
  const std::string& contents = c.input(0).data<std::string>()[0];
  if (contents.size() > INT32_MAX)
    return invalid_argument(str_cat("WAV contents are too large for int: ", contents.size()));
  TROUPE_ASSIGN(const Sound sound, read_sound(contents));
  TROUPE_ASSIGN(std::int64_t channels, wanted(c.attrs(), "desired_channels", "channels"));
  TROUPE_ASSIGN(std::int64_t frames, wanted(c.attrs(), "desired_samples", "samples"));
  channels = channels < 0 ? sound.channels : channels;
  frames = frames < 0 ? sound.frames : frames;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{frames, channels}));
  if (channels == 0)
    frames = 0; // as many as the caller likes
  const auto to = out.mutable_data<float>();
  c.parallel_for(
      frames, 2.0 * static_cast<double>(channels), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t frame = begin; frame < end; ++frame)
          for (std::int64_t channel = 0; channel < channels; ++channel) {
            std::int16_t sample = 0; // after the file's last
            const std::int64_t from = std::min<std::int64_t>(channel, sound.channels - 1);
            if (frame < sound.frames)
              std::memcpy(
                  &sample,
                  &sound.samples[static_cast<std::size_t>(2 * (frame * sound.channels + from))],
                  sizeof sample);
            to[static_cast<std::size_t>(frame * channels + channel)] =
                static_cast<float>(sample) / 32768;
          }
      });
  return c.set_output(1, Tensor::scalar(static_cast<std::int32_t>(sound.rate)));
}

Status infer_encoded(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(c.require_rank(1, 0));
  return c.set_output(0, PartialShape(std::vector<std::int64_t>{}));
}

Status encode(KernelContext& c) {
  const Tensor &audio = c.input(0), &rate = c.input(1);
  if (audio.shape().rank() != 2)
    return invalid_argument(str_cat("audio must be 2-dimensional", audio.shape()));
  if (!rate.shape().is_scalar())
    return invalid_argument(
        str_cat("Input sample_rate should be a scalar tensor, got ", rate.shape(), " instead."));
  const std::int64_t channels = audio.shape()[1];
  if (audio.num_elements() >= INT32_MAX / 2)
    return invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
  if (rate.value<std::int32_t>() <= 0)
    return invalid_argument(
        str_cat("sample_rate must be in (0, 2^32), got: ", rate.value<std::int32_t>()));
  if (channels == 0 || channels > UINT16_MAX)
    return invalid_argument(str_cat("num_channels must be in (0, 2^16), got: ", channels));
  return c.set_output(
      0, Tensor::scalar(io::wav_file(audio.data<float>(),
                                     static_cast<std::uint32_t>(rate.value<std::int32_t>()),
                                     static_cast<int>(channels))));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("DecodeWav")
      .input("contents: string")
      .output("audio: float; sample_rate: int32")
      .attr("desired_channels: int = -1; desired_samples: int = -1")
      .shape_fn(infer_decoded)
      .not_differentiable("its input is text")
      .cpu_kernel(decode, options)
      .doc("The samples of a WAV file of 16 bits, between -1 and 1, as [samples, channels]. "
           "Channels and samples that "
           "are asked for and are not there are the last channel again, and silence.");
  library.op("EncodeWav")
      .input("audio: float; sample_rate: int32")
      .output("contents: string")
      .shape_fn(infer_encoded)
      .not_differentiable("its value is text")
      .cpu_kernel(encode, options)
      .doc("Samples [samples, channels] between -1 and 1 as a WAV file of 16 bits; what is beyond "
           "is clipped.");
}

} // namespace troupe::audio_wav
