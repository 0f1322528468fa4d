// What is said on a data connection. The receiver of tensors connects and asks; the sender answers.
//
//   receiver                                   sender
//   Opening {token; region of shared memory} → checks the token, takes the descriptor
//                                            ← Acceptance {proof that it knows the other token;
//                                               region of variables, to be read}
//   Request {number, ticket, bytes, offset}  →
//                                            ← Piece {number, bytes, last}, on a stream then bytes
//                                            ← Piece {number, code ≠ 0}: there will be no more
//
// On a stream the sender may also send unasked, as many bytes as the opening says that are lent:
//
//                                            ← Piece {ticket, bytes of the tensor, announced}
//                                            ← Piece {ticket, bytes, last}, then bytes
//                                            ← Piece {ticket, code ≠ 0}: it is taken back, also
//                                               when it has come already
//   Request {0, ticket}                      → the receiver has the tensor, or does not want it:
//                                               its bytes are lent again
//
// Where tensors come by UCX, each side has a worker there, and what it says there (⇠) begins with a
// UcxMark:
//
//   Opening {token; worker_bytes}, then the
//   address of the receiver's worker         →
//                                            ← Acceptance {proof}
//                                            ← Piece {of_worker, bytes}, then the sender's address
//                                            ⇠ {proof, of_worker}: now the path stands
//   Request {number, ticket, bytes}          →
//                                            ⇠ {proof, number, offset}, with bytes of the tensor
//                                            ← Piece {number, last}: it was there until all of it
//                                               had come
//
// Fixed sizes, little endian. Tensors are sent in turns, a piece of each. The tickets of tensors
// that are sent unasked have their highest bit set; numbers of requests do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe::data {

/// Known to the two ends of a connection alone; travels on the control connection.
using Token = std::array<std::uint8_t, 16>;

inline constexpr std::uint64_t magic = 0x3561746164707274; // "trpdata5"

struct Opening {
  std::uint64_t region_bytes = 0; ///< 0: a stream
  Token token{};
  /// Of the region, at its beginning: the sender's to fill. On a stream: may be sent unasked.
  std::uint64_t lent_bytes = 0;
  /// Of the address that follows, where tensors come by UCX; else 0.
  std::uint64_t worker_bytes = 0;
};
struct Acceptance {
  Token proof{};
  std::uint64_t shown_bytes = 0; ///< of memory that comes with it; 0: none
};
struct Request {
  std::uint64_t number = 0;
  std::uint64_t ticket = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0; ///< in the region
};
struct Piece {
  static constexpr std::uint32_t last = 1, announced = 2;
  std::uint64_t number = 0; ///< of the request, or the ticket of what comes unasked
  std::uint64_t bytes = 0;
  std::uint32_t code = 0; ///< of a Status; 0: ok
  std::uint32_t kind = 0; ///< 0, last or announced
};
/// In the tickets of tensors that are sent unasked.
inline constexpr std::uint64_t unasked = std::uint64_t{1} << 63;
/// The number of what is said of the sender's UCX worker; no request has it.
inline constexpr std::uint64_t of_worker = unasked - 1;
/// Of a UCX worker; nothing longer is read.
inline constexpr std::uint64_t longest_address = 4096;

/// Before what comes by UCX, whose port is open to anybody.
struct UcxMark {
  Token proof{}; ///< of the connection's acceptance
  std::uint64_t number = 0;
  std::uint64_t offset = 0; ///< in the tensor
};

// They have no padding; a machine of another byte order is refused by its magic number.
inline constexpr std::size_t opening_bytes = 48, acceptance_bytes = 32, request_bytes = 32,
                             piece_bytes = 24;

inline std::array<std::byte, opening_bytes> encode(const Opening& x) {
  std::array<std::byte, opening_bytes> out;
  std::memcpy(out.data(), &magic, 8);
  std::memcpy(out.data() + 8, &x.region_bytes, 8);
  std::memcpy(out.data() + 16, x.token.data(), 16);
  std::memcpy(out.data() + 32, &x.lent_bytes, 8);
  std::memcpy(out.data() + 40, &x.worker_bytes, 8);
  return out;
}
/// Nothing when the magic number is wrong.
inline std::optional<Opening> decode_opening(std::span<const std::byte, opening_bytes> from) {
  Opening out;
  if (std::memcmp(from.data(), &magic, 8) != 0)
    return std::nullopt;
  std::memcpy(&out.region_bytes, from.data() + 8, 8);
  std::memcpy(out.token.data(), from.data() + 16, 16);
  std::memcpy(&out.lent_bytes, from.data() + 32, 8);
  std::memcpy(&out.worker_bytes, from.data() + 40, 8);
  return out;
}

inline std::array<std::byte, acceptance_bytes> encode(const Acceptance& x) {
  std::array<std::byte, acceptance_bytes> out;
  std::memcpy(out.data(), &magic, 8);
  std::memcpy(out.data() + 8, x.proof.data(), 16);
  std::memcpy(out.data() + 24, &x.shown_bytes, 8);
  return out;
}
inline std::optional<Acceptance>
decode_acceptance(std::span<const std::byte, acceptance_bytes> from) {
  Acceptance out;
  if (std::memcmp(from.data(), &magic, 8) != 0)
    return std::nullopt;
  std::memcpy(out.proof.data(), from.data() + 8, 16);
  std::memcpy(&out.shown_bytes, from.data() + 24, 8);
  return out;
}

static_assert(sizeof(Request) == request_bytes && sizeof(Piece) == piece_bytes);
inline std::array<std::byte, request_bytes> encode(const Request& x) {
  std::array<std::byte, request_bytes> out;
  std::memcpy(out.data(), &x, sizeof x);
  return out;
}
inline Request decode_request(const std::byte* from) {
  Request out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
inline std::array<std::byte, piece_bytes> encode(const Piece& x) {
  std::array<std::byte, piece_bytes> out;
  std::memcpy(out.data(), &x, sizeof x);
  return out;
}
inline Piece decode_piece(const std::byte* from) {
  Piece out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

static_assert(sizeof(UcxMark) == 32);
inline std::string encode(const UcxMark& x) {
  return {reinterpret_cast<const char*>(&x), sizeof x};
}
/// Nothing when it has another length.
inline std::optional<UcxMark> decode_mark(std::string_view from) {
  UcxMark out;
  if (from.size() != sizeof out)
    return std::nullopt;
  std::memcpy(&out, from.data(), sizeof out);
  return out;
}

/// What both ends call a stream on which tensors are sent unasked; never 0.
std::uint64_t lane_of(const Token& token);

/// From the system's source of random bytes.
Token make_token();
/// Takes as long for a wrong token as for the right one.
bool same(const Token& a, const Token& b);

} // namespace troupe::data
