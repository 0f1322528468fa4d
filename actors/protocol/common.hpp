// What every protocol header shares: the blocks of type ids, and how plain structs of lower layers
// travel.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <caf/meta/type_name.hpp>
#include <caf/type_id.hpp>

#include "core/base/device_name.hpp"
#include "core/base/status.hpp"
#include "devices/device.hpp"
#include "net/wire/wire_tensor.hpp"

namespace troupe {

/// Raised whenever a message changes; nodes of another version are refused when they say hello, in
/// a sentence with both versions. So that this works between any two, Hello and the form of errors
/// (actors/protocol/status.cpp) never change.
inline constexpr std::uint32_t protocol_version = 18;

/// First type id of each family; a block is 100 long. What is local has blocks of its own, which no
/// port knows.
namespace type_block {
inline constexpr std::uint16_t wire = caf::first_custom_type_id;
inline constexpr std::uint16_t node = caf::first_custom_type_id + 100;
inline constexpr std::uint16_t worker = caf::first_custom_type_id + 200;
inline constexpr std::uint16_t master = caf::first_custom_type_id + 300;
inline constexpr std::uint16_t collectives = caf::first_custom_type_id + 400;
inline constexpr std::uint16_t node_local = caf::first_custom_type_id + 500;
inline constexpr std::uint16_t worker_local = caf::first_custom_type_id + 600;
inline constexpr std::uint16_t master_local = caf::first_custom_type_id + 700;
inline constexpr std::uint16_t session_local = caf::first_custom_type_id + 800;
inline constexpr std::uint16_t collectives_local = caf::first_custom_type_id + 900;
} // namespace type_block

/// The code of that number; UNKNOWN for a number that is none. A peer may send any.
inline Code code_of(std::uint8_t number) {
  return number <= static_cast<std::uint8_t>(Code::unauthenticated) ? static_cast<Code>(number)
                                                                    : Code::unknown;
}

/// A Status as a field of a message (an answer that failed as a whole is a caf::error instead).
struct StatusMessage {
  Status status;
};
template <class F>
typename F::result_type inspect(F& f, StatusMessage& x) {
  auto code = static_cast<std::uint8_t>(x.status.code());
  bool derived = x.status.derived();
  std::string text = x.status.message();
  Origin origin = x.status.origin();
  auto store = [&]() -> caf::error {
    if (code != 0) {
      x.status = Status(code_of(code), std::move(text)).with_origin(std::move(origin));
      if (derived)
        x.status = x.status.as_derived();
    }
    return caf::none;
  };
  return f(caf::meta::type_name("StatusMessage"), code, derived, text, origin.node, origin.op,
           origin.device, origin.step, caf::meta::load_callback(store));
}

/// Why something ends, as its sender says. Never OK, whatever that is.
inline Status reason_of(const StatusMessage& x) {
  return x.status.ok() ? cancelled("ended by a peer that gave no reason") : x.status;
}

template <class F>
typename F::result_type inspect(F& f, DeviceAttributes& x) {
  return f(caf::meta::type_name("DeviceAttributes"), x.name, x.type, x.memory_limit, x.incarnation,
           x.description);
}

} // namespace troupe
