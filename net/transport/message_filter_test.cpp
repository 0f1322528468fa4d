#include "net/transport/message_filter.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

using namespace troupe;
using Side = MessageFilter::Side;

namespace {

// An answer by default, since what CAF has of its own may come as one only.
constexpr std::uint8_t answer = 0x90, request = 0x10;

std::string header(std::uint8_t operation, std::uint32_t payload, std::uint8_t flags = 0,
                   std::uint8_t number = answer) {
  std::string out(MessageFilter::header_bytes, '\0');
  out[8] = static_cast<char>(number);
  out[0] = static_cast<char>(operation);
  out[3] = static_cast<char>(flags);
  for (int i = 0; i < 4; ++i)
    out[static_cast<std::size_t>(4 + i)] = static_cast<char>(payload >> (24 - 8 * i));
  return out;
}

// No stages, then the types' names, then `rest`.
std::string message(std::string_view types, std::string_view rest = {}) {
  std::string out(1, '\0');
  out.append(2, '\0');
  if (types.size() >= 0x80)
    out += static_cast<char>(types.size() | 0x80);
  out += static_cast<char>(types.size() < 0x80 ? types.size() : types.size() >> 7);
  out += types;
  return out.append(rest);
}

std::string identity(char letter) {
  return "the form" + std::string(MessageFilter::identity_bytes - 8, letter);
}
const std::string me = identity('m'), peer = identity('p');
const MessageRules rules{std::size_t{1} << 20, {"troupe::Hello", "troupe::RunStep"}, me};

struct Connection {
  MessageFilter filter{Side::accepted, rules};

  bool send(std::uint8_t operation, std::string_view payload, std::uint8_t flags = 0,
            std::uint8_t number = answer) {
    std::string head = header(operation, static_cast<std::uint32_t>(payload.size()), flags, number);
    return filter.admit_header(head) && (payload.empty() || filter.admit_payload(payload));
  }
  Connection& open() {
    REQUIRE(send(1, peer));
    REQUIRE(filter.is_open());
    return *this;
  }
};

void refuses(Connection& connection, std::uint8_t operation, std::string_view payload,
             std::string_view why, std::uint8_t flags = 0, std::uint8_t number = answer) {
  CHECK_FALSE(connection.send(operation, payload, flags, number));
  CHECK_MESSAGE(connection.filter.why().find(why) != std::string::npos, connection.filter.why());
}

} // namespace

TEST_CASE("message filter: nothing passes before the handshake of the other side") {
  for (std::uint8_t operation : {0, 2, 3, 4, 5, 6, 7, 255}) {
    Connection connection;
    refuses(connection, operation, "x", "no handshake");
    CHECK_FALSE(connection.filter.is_open());
  }
  MessageFilter dialled(Side::dialled, rules);
  CHECK_FALSE(dialled.admit_header(header(1, 4)));
  CHECK(MessageFilter(Side::dialled, rules).admit_header(header(0, 4)));
}

TEST_CASE("message filter: a header that announces too much is refused by itself") {
  Connection connection;
  CHECK_FALSE(connection.filter.admit_header(header(1, 0xffffffff)));
  CHECK(connection.filter.why().find("announced a message of 4294967295 bytes") !=
        std::string::npos);
  CHECK(connection.filter.payload_bytes() == 0);
  Connection second;
  second.open();
  CHECK(second.filter.admit_header(header(2, 1 << 20)));
  CHECK(second.filter.payload_bytes() == 1 << 20);
  Connection third;
  third.open();
  CHECK_FALSE(third.filter.admit_header(header(2, (1 << 20) + 1)));
  Connection fourth;
  fourth.open();
  CHECK_FALSE(fourth.filter.admit_header(header(5, MessageFilter::max_notice + 1)));
}

TEST_CASE("message filter: messages of the protocol pass") {
  Connection connection;
  connection.open();
  for (std::uint8_t number : {answer, request, std::uint8_t{0}, std::uint8_t{0x80}})
    CHECK(connection.send(2, message("@<>+troupe::Hello", "anything"), 0, number));
  CHECK(connection.send(2, message("@<>+@atom", "12345678")));
  CHECK(connection.send(2, message("@<>")));
  CHECK(connection.send(6, ""));
  CHECK(connection.send(1, peer)); // to choose between two connections
  CHECK(connection.send(4, peer + me));
  std::string context = message("@<>+@str+bool+@u64", "text").substr(1);
  CHECK(connection.send(2, message("@<>+@error", "\3"
                                                 "8 bytes." +
                                                     context)));
  CHECK(connection.send(5, peer + me +
                               "\3"
                               "8 bytes." +
                               context));
}

TEST_CASE("message filter: what CAF takes for an actor's own failure may only be an answer") {
  for (std::uint8_t number : {std::uint8_t{0}, request}) {
    for (const char* types : {"@<>", "@<>+@atom", "@<>+@unit", "@<>+@error"}) {
      Connection connection;
      refuses(connection.open(), 2, message(types, "12345678"), "not of our protocol", 0, number);
    }
  }
}

TEST_CASE("message filter: messages of streams are refused by their headers") {
  for (int number : {0x20, 0x30, 0x40, 0xa0, 0xf0}) {
    Connection connection;
    refuses(connection.open(), 2, message("@<>+troupe::Hello"), "of a stream", 0,
            static_cast<std::uint8_t>(number));
  }
}

TEST_CASE("message filter: a struct that stays within its process is refused by its name") {
  for (const char* type : {"@<>+troupe::OfferTensor", "@<>+troupe::Nothing", "@<>troupe::Hello",
                           "@<>+@str", "@<>+troupe::Hello+troupe::Hello"}) {
    Connection connection;
    refuses(connection.open(), 2, message(type), "not of our protocol", 0, request);
  }
}

TEST_CASE("message filter: who shakes hands says who it is, and stays that") {
  for (const std::string& name :
       {std::string("short"), peer + "x", me, "otherfrm" + peer.substr(8), std::string(32, '\0')}) {
    Connection connection;
    CHECK_FALSE(connection.send(1, name));
    CHECK_FALSE(connection.filter.is_open());
  }
  Connection connection;
  refuses(connection.open(), 1, identity('q'), "as another node");
  MessageFilter dialled(Side::dialled, rules);
  std::string greeting = peer + "and what it publishes";
  auto size = static_cast<std::uint32_t>(greeting.size());
  REQUIRE(dialled.admit_header(header(0, size)));
  REQUIRE(dialled.admit_payload(greeting));
  CHECK_FALSE(dialled.admit_header(header(0, size)));
}

TEST_CASE("message filter: nobody speaks for the actors of another node") {
  for (std::uint8_t operation : {4, 5})
    for (const std::string& ends : {identity('q') + me, peer + identity('q'), me + peer, peer}) {
      Connection connection;
      refuses(connection.open(), operation, ends, "not from itself to this node");
    }
}

TEST_CASE("message filter: everything else closes the connection with a reason") {
  auto refused = [](std::uint8_t operation, std::string_view payload, std::string_view why,
                    std::uint8_t flags = 0) {
    Connection connection;
    refuses(connection.open(), operation, payload, why, flags);
  };
  refused(0, peer, "no place");
  refused(3, "route", "passed on");
  refused(9, "x", "kind 9");
  refused(2, message("@<>+@exit"), "\"@<>+@exit\"");
  refused(2, message("@<>+@charbuf", "\xff\xff\xff\xff\x0f"), "@charbuf");
  refused(2, message("@<>+troupe::Hello+@charbuf"), "not of our protocol");
  refused(2, message("@<>+@atom+@strong_actor_ptr"), "not of our protocol");
  refused(2, message("no list"), "without the list");
  refused(2, std::string("\1") + message("@<>+troupe::Hello"), "other actors");
  refused(2, std::string(3, '\0') + "\x7f@<>", "without the list");
  refused(2, "", "without content");
  refused(2, message("@<>+@atom+@str+@message+@strset"), "by its name", 1);
  std::string bomb = message("@<>+@charbuf", "\xff\xff\xff\xff\x0f").substr(1);
  refused(2,
          message("@<>+@error", "\3"
                                "8 bytes." +
                                    bomb),
          "@charbuf");
  refused(5,
          peer + me +
              "\3"
              "8 bytes." +
              bomb,
          "@charbuf");
  for (const char* real : {"float", "double"}) {
    std::string context = message(str_cat("@<>+@str+", real), "text").substr(1);
    refused(2, message("@<>+@error", str_cat("\3", "8 bytes.", context)), real);
  }
  // The same with the length of the list written longer than need be.
  std::string longer(2, '\0');
  longer += "\x8c\x80";
  longer += '\0';
  longer += "@<>+@charbuf";
  refused(5, peer + me + longer, "@charbuf");
}

TEST_CASE("message filter: what CAF asks of a new node passes, and is refused elsewhere") {
  Connection connection;
  connection.open();
  CHECK(connection.send(2, message("@<>+@atom+@atom+@str"), 1));
}
