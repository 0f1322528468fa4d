// WireTensor: a tensor as a field of a message. Small ones travel inside the message; large ones as
// a ticket, whose bytes the receiver pulls in chunks.
#pragma once

#include <cstdint>
#include <memory>

#include <caf/actor_control_block.hpp>
#include <caf/deserializer.hpp>
#include <caf/error.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/serializer.hpp>
#include <caf/type_id.hpp>

#include "core/tensor/tensor.hpp"

namespace troupe {

/// Largest tensor (bytes) that travels inside a message.
inline constexpr std::size_t max_inline_tensor = 64 * 1024;
/// Largest piece (bytes) of a tensor in one message, and how many are asked for ahead.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
inline constexpr int chunk_window = 4;
/// Nothing larger is believed of any one message.
inline constexpr std::size_t max_message_bytes = std::size_t{64} << 20;

/// Where the bytes of a ticket are.
enum class TicketPlace : std::uint8_t {
  offered, ///< the owner's transport holds them for pulling
  lent,    ///< they lie already in memory that the receiver has lent the owner's node
  shown,   ///< they lie in the owner's own memory, which the receiver sees
  unasked, ///< they come on a stream without being asked for
};
/// What its owner needs to take a ticket back.
struct TicketId {
  TicketPlace place = TicketPlace::offered;
  std::uint64_t number = 0; ///< of the offer, or of the placed value
};

/// A tensor that is not in the message itself.
struct TensorTicket {
  caf::strong_actor_ptr source; ///< TransportActor of the owner's node
  TicketId id;
  DType dtype = DType::invalid;
  Shape shape;
  std::uint64_t bytes = 0;
  std::uint32_t placing_us = 0; ///< that writing it took, of one that lies in memory
  std::uint64_t shown_at = 0;   ///< of a shown one: where
  std::uint64_t lane = 0;       ///< of one that comes unasked: on whose stream (PushLane::id)
};

/// Inside one process always the tensor itself. Across nodes: `tensor` up to max_inline_tensor,
/// else `ticket`.
struct WireTensor {
  Tensor tensor;
  std::shared_ptr<const TensorTicket> ticket;
  WireTensor() = default;
  WireTensor(Tensor t) : tensor(std::move(t)) {}
  bool is_ticket() const { return ticket != nullptr; }
};

/// A piece of a tensor's bytes. On the way out a view of the shared buffer: bytes are copied once,
/// into the socket's buffer. On the way in `buffer` holds just the piece (offset 0).
struct TensorChunk {
  BufferRef buffer;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// Both directions; sizes are checked against what the message still holds before memory is taken.
caf::error save(caf::serializer& sink, const Tensor& tensor);
caf::error load(caf::deserializer& source, Tensor& tensor);
caf::error save(caf::serializer& sink, const WireTensor& tensor);
caf::error load(caf::deserializer& source, WireTensor& tensor);
caf::error save(caf::serializer& sink, const TensorChunk& chunk);
caf::error load(caf::deserializer& source, TensorChunk& chunk);

namespace detail {
template <class F, class T>
typename F::result_type inspect_bytes(F& f, T& x, const char* name) {
  if constexpr (std::is_base_of_v<caf::serializer, F>)
    return save(f, x);
  else if constexpr (std::is_base_of_v<caf::deserializer, F>)
    return load(f, x);
  else
    return f(caf::meta::type_name(name));
}
} // namespace detail

template <class F>
typename F::result_type inspect(F& f, Tensor& x) {
  return detail::inspect_bytes(f, x, "Tensor");
}
template <class F>
typename F::result_type inspect(F& f, WireTensor& x) {
  return detail::inspect_bytes(f, x, "WireTensor");
}
template <class F>
typename F::result_type inspect(F& f, TensorChunk& x) {
  return detail::inspect_bytes(f, x, "TensorChunk");
}

} // namespace troupe

CAF_BEGIN_TYPE_ID_BLOCK(troupe_wire, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(troupe_wire, (troupe::Tensor))
CAF_ADD_TYPE_ID(troupe_wire, (troupe::WireTensor))
CAF_ADD_TYPE_ID(troupe_wire, (troupe::TensorChunk))
CAF_END_TYPE_ID_BLOCK(troupe_wire)
