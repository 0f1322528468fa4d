// A sender and a receiver in one process: what arrives over both paths, and what a loss of either
// end means.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>

#include "net/data/testing/data_path.hpp"

using namespace troupe;
using namespace troupe::data;
using namespace troupe::data::testing;

TEST_CASE("data path: tensors of many sizes arrive as they are, and are offered no longer") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    std::uint64_t ticket = 0;
    for (std::int64_t count : {1, 1000, 1 << 18, (5 << 20) + 3}) {
      Tensor sent = numbers(count);
      f.offer(++ticket, sent);
      Tensor got = f.pull(*link, ticket, sent);
      Status outcome = f.pulled.take();
      REQUIRE_MESSAGE(outcome.ok(), outcome.to_string());
      CHECK(f.same_bytes(sent, got));
      // The last bytes may be here before their sender knows it.
      if (path != TensorPath::shared_memory)
        wait_until([&] { return sent.is_unique(); });
      CHECK(sent.is_unique()); // nobody holds the sender's buffer any more
    }
    CHECK(f.offers->size() == 0);
    CHECK(f.book->sentences().size() == 2);
    CHECK(f.book->sentences()[0].find(std::string(to_string(path)) + ", 4 tensors, 21.0 MiB") !=
          std::string::npos);
  }
}

TEST_CASE("data path: many at once are served in turns") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path); // pulls wait for it
    std::vector<Tensor> sent, got;
    for (std::uint64_t i = 0; i < 20; ++i) {
      sent.push_back(numbers(i == 0 ? 20 << 20 : 30000, static_cast<float>(i)));
      f.offer(i, sent.back());
      got.push_back(f.pull(*link, i, sent.back()));
    }
    for (std::size_t i = 0; i < sent.size(); ++i)
      REQUIRE(f.pulled.take().ok());
    for (std::size_t i = 0; i < sent.size(); ++i)
      CHECK(f.same_bytes(sent[i], got[i]));
  }
}

TEST_CASE("data path: who is told that a tensor has come holds it alone") {
  for (TensorPath path : every_path()) {
    CAPTURE(to_string(path));
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(1000);
    f.offer(1, sent);
    std::uint64_t bytes = sent.bytes().size(), offset = 0;
    std::atomic<bool> freed = false;
    BufferRef held;
    std::vector<std::byte> memory(bytes);
    if (link->region()) {
      auto range = link->region()->allocate(bytes);
      REQUIRE(range.ok());
      offset = range->offset;
      held = Buffer::wrap(range->buffer->data(), bytes,
                          [&freed, keep = range->buffer](void*) { freed = true; });
    } else {
      held = Buffer::wrap(memory.data(), bytes, [&freed](void*) { freed = true; });
    }
    Inbox<bool> was_freed;
    BufferRef into = held;
    link->pull(1, bytes, std::move(into), offset, [&](Status status, std::int64_t) {
      held = {};
      was_freed.put(status.ok() && freed.load());
    });
    CHECK(was_freed.take());
  }
}

TEST_CASE("data path: a request that overtook its offer waits until the offers have settled") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path);
    Tensor sent = numbers(100000);
    Tensor got = f.pull(*link, 5, sent);
    f.settled.take();
    f.offer(5, sent);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    CHECK(f.same_bytes(sent, got));
  }
}

TEST_CASE("data path: each request waits for its own settling, not for one that began before it") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path);
    Tensor first = numbers(1000), second = numbers(2000);
    Tensor got_first = f.pull(*link, 1, first);
    f.settled.take();
    Tensor got_second = f.pull(*link, 2, second);
    f.settled.take();
    f.offer(1, first);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    f.offer(2, second);
    f.server->offers_settled();
    REQUIRE(f.pulled.take().ok());
    CHECK(f.same_bytes(first, got_first));
    CHECK(f.same_bytes(second, got_second));
  }
}

TEST_CASE("data path: what is not offered, or has another size, is refused; the path stays") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path);
    Tensor sent = numbers(1000);
    f.pull(*link, 1, sent);
    f.settled.take();
    f.server->offers_settled();
    CHECK(f.pulled.take().code() == Code::aborted);
    f.offer(2, sent);
    f.pull(*link, 2, sent, 8000);
    CHECK(f.pulled.take().code() == Code::out_of_range);
    f.pull(*link, 2, sent);
    CHECK(f.pulled.take().ok());
  }
}

TEST_CASE("data path: when the sender goes, what is under way ends with its name and the path") {
  for (TensorPath path : every_path()) {
    Fixture f;
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(1000);
    f.pull(*link, 1, sent); // parked for ever
    f.settled.take();
    f.server->drop(f.peer);
    Status outcome = f.pulled.take();
    CHECK(outcome.code() == Code::unavailable);
    CHECK(outcome.message().find(std::string(to_string(path)) + " path from ps broke: ") !=
          std::string::npos);
    // By ucx the one connection may be seen to end before the other.
    if (path != TensorPath::ucx)
      CHECK(outcome.message().find("it closed its connection") != std::string::npos);
    CHECK(outcome.message().find("; if its process has ended, look at its log") !=
          std::string::npos);
    CHECK(outcome.derived()); // whoever knows why it went says more
    CHECK(f.broken.take().code() == Code::unavailable);
    f.pull(*link, 1, sent);
    CHECK(f.pulled.take().code() == Code::unavailable);
  }
}

TEST_CASE("data path: when the receiver goes in the middle, the sender lets go of everything") {
  for (TensorPath path : every_path()) {
    Fixture f;
    std::int64_t connections = counter("data_connections_in").value();
    auto link = f.open(path);
    REQUIRE(f.opened.take().ok());
    Tensor sent = numbers(16 << 20);
    f.offer(1, sent);
    f.pull(*link, 1, sent);
    f.client.reset();
    CHECK(!f.pulled.take().ok());
    wait_until([&] { return counter("data_connections_in").value() == connections; });
    CHECK(counter("data_connections_in").value() == connections);
    f.offers->erase_of(f.peer);
    CHECK(sent.is_unique());
  }
}

TEST_CASE("data path: what a peer lends is filled unasked, until its connection ends") {
  Fixture f;
  Tensor sent = numbers(200'000);
  CHECK(!f.lent->place(f.peer, sent)); // nobody has connected
  auto link = f.open(TensorPath::shared_memory);
  REQUIRE(f.opened.take().ok());
  LentMemory receiver; // the other node's
  receiver.lend(3, link->region(), f.book->record(PathBook::Direction::from, "ps"));
  auto placed = f.lent->place(f.peer, sent);
  REQUIRE(placed);
  auto claimed = receiver.claim(3, *placed, sent.bytes().size(), nullptr);
  REQUIRE_MESSAGE(claimed.ok(), claimed.status().to_string());
  CHECK(std::memcmp((*claimed)->data(), sent.raw(), sent.bytes().size()) == 0);
  CHECK(f.lent->slots_in_use() > 0);
  CHECK(receiver.claim(3, *placed, sent.bytes().size(), nullptr).status().code() == Code::aborted);
  *claimed = BufferRef{};
  CHECK(f.lent->slots_in_use() == 0);
  // Beside what is asked for, and not more than fits.
  f.offer(1, sent);
  Tensor asked = f.pull(*link, 1, sent);
  CHECK(f.pulled.take().ok());
  CHECK(f.same_bytes(asked, sent));
  std::vector<PlacedValue> values;
  while (auto value = f.lent->place(f.peer, sent))
    values.push_back(*value);
  CHECK(values.size() == LentSlots::num_slots / 13);
  CHECK(!f.lent->place(f.peer, numbers(2 << 20))); // too large for any
  CHECK(f.lent->withdraw(values[0].number));
  CHECK(f.same_bytes(asked, sent)); // it lies elsewhere
  // What has arrived stays when the connection goes, and nothing more comes.
  auto last = receiver.claim(3, values.back(), sent.bytes().size(), nullptr);
  REQUIRE(last.ok());
  f.server->drop(f.peer);
  CHECK(f.broken.take().code() == Code::unavailable);
  CHECK(!f.lent->place(f.peer, sent));
  link.reset();
  CHECK(std::memcmp((*last)->data(), sent.raw(), sent.bytes().size()) == 0);
}

TEST_CASE("data path: a task sees where its peer has variables, a client does not") {
  for (const char* task : {"/job:worker/replica:0/task:0", "client"}) {
    Fixture f;
    auto invitation = f.server->invite(f.peer, task);
    DataEndpoint to = f.endpoint(TensorPath::shared_memory);
    to.token = invitation.token;
    to.proof = invitation.proof;
    auto link = f.open(to);
    REQUIRE(f.opened.take().ok());
    const bool is_task = task[0] == '/';
    CHECK(LentSlots(link->region()->base()).sees_sender() == is_task);
    CHECK(f.lent->shows_to(task, 1000) == is_task);
  }
}
