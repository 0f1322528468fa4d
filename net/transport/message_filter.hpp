// MessageFilter: what a connection between nodes may carry, decided from the bytes before CAF takes
// memory for them or acts on them.
//
// CAF's protocol (BASP) trusts every connection: it takes messages without a handshake, to actors
// found by name, of any type, with a payload of up to 4 GiB that is allocated when its header
// arrives. Nodes of troupe need far less. Only these pass:
//
//   - first the handshake of the other side, which names the other side and nobody else;
//   - messages to an actor by its number (never relayed, never to a stage in between) with one
//     struct of our protocol, or, as an answer, an `ok` or an error;
//   - requests to watch actors of this node, and notices that actors of the other side have ended;
//   - heartbeats.
//
// An error or an `ok` that answers nothing is refused: CAF hands it to the actor as a failure of
// its own, and the ordinary actor ends. Messages of CAF's streams are refused: CAF reads them
// without looking at their type.
//
//   awaiting handshake ── header ──▶ handshake's payload ──▶ header ◀──▶ payload
//           │                                │                  │             │
//           └────────────────────────────────┴─── any refusal ──┴─────────────┴──▶ closed
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// The rules for every connection of a process.
struct MessageRules {
  std::size_t max_payload = std::size_t{64} << 20; ///< bytes, of any message
  /// Names of the structs that may come, such as "troupe::Hello". All others stay within their
  /// process.
  std::set<std::string, std::less<>> types;
  /// This node's identity as it travels: MessageFilter::identity_bytes of them.
  std::string own;
};

/// For one connection; asked on the network's thread. Knows nothing of sockets or CAF's classes.
class MessageFilter {
public:
  static constexpr std::size_t header_bytes = 32;
  /// A node's identity: eight bytes that say of which form it is, then 24 that are its own.
  static constexpr std::size_t identity_bytes = 32;
  /// Handshakes, notices about actors: small by nature.
  static constexpr std::size_t max_notice = 64 * 1024;

  enum class Side { accepted, dialled };
  /// `rules` outlive the filter.
  MessageFilter(Side side, const MessageRules& rules) : side_(side), rules_(rules) {}

  /// Takes a header of header_bytes. False if the connection is to be closed; `why` then says why.
  bool admit_header(std::span<const char> bytes);
  /// Takes the payload that the last header announced.
  bool admit_payload(std::span<const char> bytes);

  /// Bytes that the last header announced; 0 when a header comes next.
  std::size_t payload_bytes() const { return payload_bytes_; }
  /// Has the other side shaken hands?
  bool is_open() const { return is_open_; }
  /// The other side's handshake. It begins with that side's identity; the side that accepted sends
  /// nothing else.
  const std::string& handshake() const { return handshake_; }
  /// The last payload was a handshake by which the side that dialled takes this connection for its
  /// only one.
  bool is_selected() const { return is_selected_; }
  /// A sentence without subject, such as "sent a message of 5 GiB, more than the limit of 64 MiB".
  const std::string& why() const { return why_; }

private:
  bool refuse(std::string why);
  bool admit_handshake(std::string_view bytes);
  bool admit_notice(std::string_view bytes);
  bool admit_message(std::string_view bytes);
  bool admit_answer(std::string_view types, std::string_view content);

  Side side_;
  const MessageRules& rules_;
  std::size_t payload_bytes_ = 0;
  std::uint8_t operation_ = 0;
  bool to_name_ = false; // to an actor by its name
  bool selects_ = false; // the header's flag
  bool answers_ = false; // a request of ours
  bool is_open_ = false;
  bool is_selected_ = false;
  std::string handshake_;
  std::string why_;
};

} // namespace troupe
