// MessageFilter: what a connection between nodes may carry, decided from the bytes before CAF takes
// memory for them or acts on them.
//
// CAF's protocol (BASP) believes whoever connects: messages without a handshake, to actors found by
// name, of any type, with a payload of up to 4 GiB that is allocated when its header arrives. Nodes
// of troupe need far less than that, and nothing else passes:
//
//   first the handshake of the other side, once; then messages to an actor by its number (never
//   relayed, never to a stage in between), whose content is one struct of our protocol, an `ok`, or
//   an error; then watching actors and their ends; heartbeats.
//
//   awaiting handshake ── header ──▶ handshake's payload ──▶ header ◀──▶ payload
//           │                                │                  │             │
//           └────────────────────────────────┴─── any refusal ──┴─────────────┴──▶ closed
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// For one connection; asked on the network's thread. Knows nothing of sockets or CAF's classes.
class MessageFilter {
public:
  static constexpr std::size_t header_bytes = 32;
  /// Handshakes, notices about actors: small by nature.
  static constexpr std::size_t max_notice = 64 * 1024;

  enum class Side { accepted, dialled };
  /// `max_payload` bounds every message.
  MessageFilter(Side side, std::size_t max_payload) : side_(side), max_payload_(max_payload) {}

  /// Takes a header of header_bytes. False if the connection is to be closed; `why` then says why.
  bool admit_header(std::span<const char> bytes);
  /// Takes the payload that the last header announced.
  bool admit_payload(std::span<const char> bytes);

  /// What the last header announced; 0 when the next thing is a header.
  std::size_t payload_bytes() const { return payload_bytes_; }
  /// Has the other side shaken hands?
  bool is_open() const { return is_open_; }
  /// What the other side shook hands with. It begins with the name of its process; of an accepted
  /// side it is nothing else.
  const std::string& handshake() const { return handshake_; }
  /// The last payload was a handshake by which the side that dialled takes this connection for its
  /// only one.
  bool is_selected() const { return is_selected_; }
  /// A sentence without subject, such as "sent a message of 5 GiB, more than the limit of 64 MiB".
  const std::string& why() const { return why_; }

private:
  bool refuse(std::string why);
  bool admit_message(std::span<const char> bytes);

  Side side_;
  std::size_t max_payload_;
  std::size_t payload_bytes_ = 0;
  std::uint8_t operation_ = 0;
  bool to_name_ = false; // to an actor by its name
  bool selects_ = false; // the header's flag
  bool is_open_ = false;
  bool is_selected_ = false;
  std::string handshake_;
  std::string why_;
};

} // namespace troupe
