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

// CAF's types begin with '@' or are plain words; ours are in our namespace. An unknown name of ours
// is harmless: CAF cannot read the message and drops it.
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

// One struct of ours, or an answer without one.
bool is_message(std::string_view types) {
  if (!types.starts_with(message_mark))
    return false;
  types.remove_prefix(message_mark.size());
  if (types.empty())
    return true; // an answer without content
  types.remove_prefix(1);
  return is_ours(types) ? types.find('+') == types.npos
                        : types == "@atom" || types == "@error" || types == "@unit";
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
  std::size_t announced = read_u32(bytes.data() + 4);
  std::uint8_t first = side_ == Side::accepted ? client_handshake : server_handshake;
  if (!is_open_ && operation_ != first)
    return refuse("does not speak our protocol: its first bytes are no handshake");
  if (operation_ > heartbeat || (operation_ <= client_handshake && operation_ != first))
    return refuse(str_cat("sent a message of kind ", static_cast<int>(operation_),
                          ", which has no place there"));
  if (operation_ == routed_message)
    return refuse("asked for a message to be passed on; nodes talk to each other directly");
  std::size_t limit = operation_ == direct_message && !to_name_
                          ? max_payload_
                          : std::min(max_payload_, operation_ == heartbeat ? 0 : max_notice);
  if (announced > limit)
    return refuse(str_cat("announced a message of ", announced, " bytes; at most ", limit,
                          " are taken (message-limit in [troupe] sets it for the cluster)"));
  if (announced == 0 && operation_ <= direct_message)
    return refuse("sent a message without content");
  payload_bytes_ = announced;
  return true;
}

bool MessageFilter::admit_payload(std::span<const char> bytes) {
  if (bytes.size() != payload_bytes_)
    return refuse(str_cat("sent ", bytes.size(), " bytes of ", payload_bytes_));
  payload_bytes_ = 0;
  is_open_ = true;
  is_selected_ = operation_ == client_handshake && selects_;
  if (operation_ <= client_handshake)
    handshake_.assign(bytes.data(), bytes.size());
  std::string culprit;
  if (operation_ == direct_message)
    return admit_message(bytes);
  if (!holds_plain_types({bytes.data(), bytes.size()}, culprit))
    return refuse(str_cat("sent a notice with a ", culprit, " in it"));
  return true;
}

bool MessageFilter::admit_message(std::span<const char> bytes) {
  Reader reader{bytes.data(), bytes.data() + bytes.size()};
  if (reader.count() != 0)
    return refuse("sent a message that goes through other actors");
  reader.skip(2);
  std::string_view types = reader.text();
  if (reader.failed)
    return refuse("sent a message without the list of its types");
  if (to_name_) {
    // What CAF asks of a node that it gets to know; our answer is a refusal.
    if (types != "@<>+@atom+@atom+@str")
      return refuse("sent a message to an actor by its name");
    return true;
  }
  std::string culprit;
  bool is_error = types == "@<>+@error";
  if (!is_message(types) ||
      (is_error &&
       !holds_plain_types({reader.at, static_cast<std::size_t>(reader.end - reader.at)}, culprit)))
    return refuse(str_cat("sent a message of type ", str_quote(std::string(types.substr(0, 80))),
                          culprit.empty() ? "" : str_cat(" with a ", culprit, " in it"),
                          ", which is not of our protocol"));
  return true;
}

} // namespace troupe
