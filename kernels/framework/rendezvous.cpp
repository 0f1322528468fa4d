// Keys of cut edges, in TensorFlow's form.
#include "kernels/framework/rendezvous.hpp"

#include <array>
#include <charconv>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool is_full_device_name(std::string_view text) {
  auto name = DeviceName::parse(text);
  return name.ok() && name->is_full();
}

} // namespace

std::string rendezvous_key(std::string_view src_device, std::uint64_t src_incarnation,
                           std::string_view dst_device, std::string_view edge, std::uint64_t frame,
                           std::int64_t iter) {
  return str_cat(src_device, ";", hex16(src_incarnation), ";", dst_device, ";", edge, ";", frame,
                 ":", iter);
}

Result<ParsedKey> parse_rendezvous_key(std::string_view key) {
  auto wrong = [&] { return invalid_argument(str_cat("Invalid rendezvous key: ", key)); };
  std::array<std::string_view, 5> parts;
  std::string_view rest = key;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto end = rest.find(';');
    if ((end == std::string_view::npos) != (i + 1 == parts.size()))
      return wrong();
    parts[i] = rest.substr(0, end);
    rest.remove_prefix(i + 1 == parts.size() ? rest.size() : end + 1);
  }
  ParsedKey out{
      .src_device = parts[0], .dst_device = parts[2], .edge = parts[3], .frame_iter = parts[4]};
  const auto [end, error] =
      std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), out.src_incarnation, 16);
  if (error != std::errc{} || end != parts[1].data() + parts[1].size() || out.edge.empty() ||
      !is_full_device_name(out.src_device) || !is_full_device_name(out.dst_device))
    return wrong();
  return out;
}

} // namespace troupe
