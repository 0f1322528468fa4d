#include "kernels/data/internal/handle_text.hpp"

#include "storage/message/message.hpp"

namespace troupe::data {

std::string text_of_handle(const ResourceHandle& handle) {
  MessageWriter out;
  if (!handle.device.empty())
    out.bytes(1, handle.device);
  if (!handle.container.empty())
    out.bytes(2, handle.container);
  if (!handle.name.empty())
    out.bytes(3, handle.name);
  if (handle.hash_code)
    out.integer(4, handle.hash_code);
  if (!handle.maybe_type_name.empty())
    out.bytes(5, handle.maybe_type_name);
  return out.take();
}

Result<ResourceHandle> handle_of(std::string_view text) {
  ResourceHandle out;
  MessageReader in(text);
  while (in.next()) {
    const std::string bytes(in.bytes());
    switch (in.field()) {
    case 1:
      out.device = bytes;
      break;
    case 2:
      out.container = bytes;
      break;
    case 3:
      out.name = bytes;
      break;
    case 4:
      out.hash_code = in.integer();
      break;
    case 5:
      out.maybe_type_name = bytes;
      break;
    default:
      break;
    }
  }
  if (!in.ok())
    return invalid_argument("Could not parse string_handle as a valid ResourceHandle");
  return out;
}

} // namespace troupe::data
