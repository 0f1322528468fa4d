#include "net/transport/message_filter.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

// CAF's numbers for the kinds of messages.
enum Operation : std::uint8_t {
  server_handshake = 0,
  client_handshake = 1,
  direct_message = 2,
  routed_message = 3,
  monitor_message = 4,
  down_message = 5,
  heartbeat = 6,
};

constexpr std::uint8_t named_receiver = 1; // flags in a header
constexpr std::uint8_t select_connection = 2;

// The first byte of a message's number: it answers a request; nobody else has answered it; it
// belongs to a stream.
constexpr std::uint8_t answer_flag = 0x80;
constexpr std::uint8_t answered_flag = 0x40;
constexpr std::uint8_t stream_flag = 0x20;

constexpr std::size_t form_bytes = 8; // of an identity

std::uint32_t read_u32(const char* at) { // network order
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i)
    out = out << 8 | static_cast<std::uint8_t>(at[i]);
  return out;
}

// Reads the front of a payload.
struct Reader {
  const char* at;
  const char* end;
  bool failed = false;

  std::uint8_t byte() {
    if (at == end) {
      failed = true;
      return 0;
    }
    return static_cast<std::uint8_t>(*at++);
  }
  // Seven bits a byte, the low ones first.
  std::uint32_t count() {
    std::uint32_t out = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      std::uint8_t next = byte();
      out |= static_cast<std::uint32_t>(next & 0x7f) << shift;
      if (next < 0x80)
        return out;
    }
    failed = true;
    return 0;
  }
  std::string_view text() {
    std::uint32_t size = count();
    if (failed || size > static_cast<std::size_t>(end - at)) {
      failed = true;
      return {};
    }
    std::string_view out(at, size);
    at += size;
    return out;
  }
  void skip(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(end - at))
      failed = true;
    else
      at += bytes;
  }
};

constexpr std::string_view message_mark = "@<>"; // begins the list of a message's types

bool is_ours(std::string_view type) {
  return type.starts_with("troupe::");
}

// What the context of an error may hold: text and whole numbers. Not byte vectors and their like,
// for which CAF takes memory before it looks at what is there; nor floating ones, which we never
// send: CAF reads an infinite one and, passing it on, never ends writing it.
bool is_plain(std::string_view type) {
  static constexpr std::string_view plain[] = {
      "@str", "bool", "@i8",  "@u8",   "@i16",  "@u16",   "@i32",
      "@u32", "@i64", "@u64", "@atom", "@unit", "@error", "@strong_actor_ptr"};
  return std::find(std::begin(plain), std::end(plain), type) != std::end(plain);
}

// All names of a list of types, after its mark, are plain or ours.
bool is_plain_list(std::string_view names, std::string& culprit) {
  while (names.starts_with('+')) {
    names.remove_prefix(1);
    std::string_view type = names.substr(0, names.find('+'));
    if (!is_plain(type) && !is_ours(type)) {
      culprit = std::string(type.substr(0, 40));
      return false;
    }
    names.remove_prefix(type.size());
  }
  return names.empty();
}

// Every list of types within, wherever it stands, names plain ones only. In front of a list stands
// its length in one to five bytes; each number that these may be is tried.
bool holds_plain_types(std::string_view bytes, std::string& culprit) {
  for (auto mark = bytes.find(message_mark); mark != bytes.npos;
       mark = bytes.find(message_mark, mark + 1)) {
    for (std::size_t width = 1; width <= 5 && width <= mark; ++width) {
      if (width > 1 && static_cast<std::uint8_t>(bytes[mark - width]) < 0x80)
        break;
      Reader reader{bytes.data() + mark - width, bytes.data() + bytes.size()};
      std::string_view list = reader.text();
      if (reader.failed || list.data() != bytes.data() + mark || list.size() <= message_mark.size())
        continue;
      if (!is_plain_list(list.substr(message_mark.size()), culprit))
        return false;
    }
  }
  return true;
}

} // namespace

bool MessageFilter::refuse(std::string why) {
  why_ = std::move(why);
  payload_bytes_ = 0;
  return false;
}

bool MessageFilter::admit_header(std::span<const char> bytes) {
  if (bytes.size() != header_bytes)
    return refuse(str_cat("sent a header of ", bytes.size(), " bytes"));
  operation_ = static_cast<std::uint8_t>(bytes[0]);
  to_name_ = (static_cast<std::uint8_t>(bytes[3]) & named_receiver) != 0;
  selects_ = (static_cast<std::uint8_t>(bytes[3]) & select_connection) != 0;
  auto number = static_cast<std::uint8_t>(bytes[8]);
  answers_ = (number & answer_flag) != 0;
  std::size_t announced = read_u32(bytes.data() + 4);
  std::uint8_t first = side_ == Side::accepted ? client_handshake : server_handshake;
  if (!is_open_ && operation_ != first)
    return refuse("does not speak our protocol: its first bytes are no handshake");
  // Who dialled may shake hands again, to choose between two connections.
  bool is_misplaced = operation_ == server_handshake ? is_open_ : operation_ != first;
  if (operation_ > heartbeat || (operation_ <= client_handshake && is_misplaced))
    return refuse(str_cat("sent a message of kind ", static_cast<int>(operation_),
                          ", which has no place there"));
  if (operation_ == routed_message)
    return refuse("asked for a message to be passed on; nodes talk to each other directly");
  if (operation_ == direct_message && (number & (answered_flag | stream_flag)))
    return refuse("sent a message of a stream, which no actor here takes");
  std::size_t limit = operation_ == direct_message && !to_name_
                          ? rules_.max_payload
                          : std::min(rules_.max_payload, operation_ == heartbeat ? 0 : max_notice);
  if (announced > limit)
    return refuse(str_cat("announced a message of ", announced, " bytes; at most ", limit,
                          " are taken (message-limit in [troupe] sets it for the cluster)"));
  if (announced == 0 && operation_ != heartbeat)
    return refuse("sent a message without content");
  payload_bytes_ = announced;
  return true;
}

bool MessageFilter::admit_payload(std::span<const char> bytes) {
  if (bytes.size() != payload_bytes_)
    return refuse(str_cat("sent ", bytes.size(), " bytes of ", payload_bytes_));
  payload_bytes_ = 0;
  is_selected_ = operation_ == client_handshake && selects_;
  std::string_view payload(bytes.data(), bytes.size());
  switch (operation_) {
  case server_handshake:
  case client_handshake:
    return admit_handshake(payload);
  case direct_message:
    return admit_message(payload);
  default:
    return admit_notice(payload);
  }
}

bool MessageFilter::admit_handshake(std::string_view bytes) {
  bool has_form = bytes.size() >= identity_bytes &&
                  bytes.substr(0, form_bytes) == std::string_view(rules_.own).substr(0, form_bytes);
  if (!has_form || (operation_ == client_handshake && bytes.size() != identity_bytes))
    return refuse("shook hands without saying which node it is");
  if (bytes.starts_with(rules_.own))
    return refuse("calls itself by the identity of this node");
  if (is_open_ && bytes != handshake_)
    return refuse("shook hands again as another node");
  std::string culprit;
  if (!holds_plain_types(bytes, culprit))
    return refuse(str_cat("sent a notice with a ", culprit, " in it"));
  is_open_ = true;
  handshake_.assign(bytes);
  return true;
}

// That it watches one of our actors, or that one of its own has ended. From it to us: CAF would
// pass on what is for others, and believe anybody about the actors of everybody.
bool MessageFilter::admit_notice(std::string_view bytes) {
  std::string_view peer = std::string_view(handshake_).substr(0, identity_bytes);
  if (bytes.size() < 2 * identity_bytes || bytes.substr(0, identity_bytes) != peer ||
      bytes.substr(identity_bytes, identity_bytes) != rules_.own)
    return refuse("sent a notice that is not from itself to this node");
  std::string culprit;
  if (!holds_plain_types(bytes, culprit))
    return refuse(str_cat("sent a notice with a ", culprit, " in it"));
  return true;
}

bool MessageFilter::admit_message(std::string_view bytes) {
  Reader reader{bytes.data(), bytes.data() + bytes.size()};
  if (reader.count() != 0)
    return refuse("sent a message that goes through other actors");
  reader.skip(2);
  std::string_view types = reader.text();
  if (reader.failed || !types.starts_with(message_mark))
    return refuse("sent a message without the list of its types");
  if (to_name_) {
    // What CAF asks of a node that it gets to know; our answer is a refusal.
    if (types != "@<>+@atom+@atom+@str")
      return refuse("sent a message to an actor by its name");
    return true;
  }
  std::string_view type = types.substr(message_mark.size());
  if (type.starts_with('+') && rules_.types.contains(type.substr(1)))
    return true;
  std::string_view content(reader.at, static_cast<std::size_t>(reader.end - reader.at));
  if (answers_)
    return admit_answer(types, content);
  return refuse(str_cat("sent a message of type ", str_quote(std::string(types.substr(0, 80))),
                        ", which is not of our protocol or stays within its process"));
}

// Answers that are no struct: nothing, `ok`, an error.
bool MessageFilter::admit_answer(std::string_view types, std::string_view content) {
  std::string culprit;
  bool is_error = types == "@<>+@error";
  if (types == "@<>" || types == "@<>+@atom" || types == "@<>+@unit" ||
      (is_error && holds_plain_types(content, culprit)))
    return true;
  return refuse(str_cat("answered with a ", str_quote(std::string(types.substr(0, 80))),
                        culprit.empty() ? "" : str_cat(" with a ", culprit, " in it"),
                        ", which is not of our protocol"));
}

} // namespace troupe
