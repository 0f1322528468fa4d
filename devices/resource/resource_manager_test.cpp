#include "devices/resource/resource_manager.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/tensor/literal.hpp"

using namespace troupe;

namespace {

struct Note final : Resource {
  explicit Note(std::string text, int* destroyed = nullptr)
      : text(std::move(text)), destroyed(destroyed) {}
  ~Note() override {
    if (destroyed)
      ++*destroyed;
  }
  std::string description() const override { return "note " + text; }
  std::size_t bytes() const override { return text.size(); }
  std::string text;
  int* destroyed;
};

/// Asks its manager while it is destroyed.
struct Curious final : Resource {
  explicit Curious(ResourceManager& manager, std::size_t& seen) : manager(manager), seen(seen) {}
  ~Curious() override { seen = manager.list().size(); }
  std::string description() const override { return "curious"; }
  ResourceManager& manager;
  std::size_t& seen;
};

auto note(std::string text) {
  return [text] { return Result<std::shared_ptr<Note>>(std::make_shared<Note>(text)); };
}

} // namespace

TEST_CASE("resources: made once, found by container, type and name") {
  ResourceManager manager("worker");
  CHECK(manager.default_container() == "worker");
  auto made = manager.lookup_or_create<Note>("", "n", note("first"));
  REQUIRE(made.ok());
  auto again = manager.lookup_or_create<Note>("worker", "n", note("second"));
  REQUIRE(again.ok());
  CHECK(*made == *again);
  CHECK((*manager.lookup<Note>("", "n"))->text == "first");
  CHECK_FALSE(manager.lookup<Note>("other", "n").ok());
  CHECK_FALSE(manager.lookup<Variable>("", "n").ok());
  // The same name may stand for another type.
  auto variable = manager.lookup_or_create<Variable>("", "n", [] {
    return Result<std::shared_ptr<Variable>>(std::make_shared<Variable>(DType::float32));
  });
  CHECK(variable.ok());
  CHECK(manager.list().size() == 2);
}

TEST_CASE("resources: what is missing is named") {
  ResourceManager manager;
  CHECK(manager.lookup<Variable>("", "w").status() ==
        not_found("Resource localhost/w/Variable does not exist: container 'localhost' holds no "
                  "Variable named 'w'"));
  CHECK(manager.remove<Variable>("box", "w").code() == Code::not_found);
}

TEST_CASE("resources: a failed making leaves nothing behind") {
  ResourceManager manager;
  auto failed = manager.lookup_or_create<Note>(
      "", "n", [] { return Result<std::shared_ptr<Note>>(internal("no paper")); });
  CHECK(failed.status() == internal("no paper"));
  CHECK(manager.list().empty());
  CHECK((*manager.lookup_or_create<Note>("", "n", note("x")))->text == "x");
}

TEST_CASE("resources: removed ones live on for who holds them") {
  ResourceManager manager;
  int destroyed = 0;
  auto make = [&] {
    return Result<std::shared_ptr<Note>>(std::make_shared<Note>("kept", &destroyed));
  };
  auto held = *manager.lookup_or_create<Note>("", "n", make);
  CHECK(manager.remove<Note>("", "n").ok());
  CHECK_FALSE(manager.lookup<Note>("", "n").ok());
  CHECK(destroyed == 0);
  CHECK(held->text == "kept");
  held.reset();
  CHECK(destroyed == 1);
}

TEST_CASE("resources: containers are cleared one by one or all together") {
  ResourceManager manager;
  for (const char* container : {"", "a", "b"})
    REQUIRE(manager.lookup_or_create<Note>(container, "n", note("x")).ok());
  manager.clear_container("a");
  CHECK(manager.list().size() == 2);
  manager.clear_container("");
  REQUIRE(manager.list().size() == 1);
  CHECK(manager.list()[0].container == "b");
  manager.clear_container("unknown");
  manager.clear();
  CHECK(manager.list().empty());
}

TEST_CASE("resources: the list describes") {
  ResourceManager manager;
  REQUIRE(manager.lookup_or_create<Note>("box", "n", note("abc")).ok());
  auto list = manager.list();
  REQUIRE(list.size() == 1);
  CHECK(list[0].container == "box");
  CHECK(list[0].type.find("Note") != std::string::npos);
  CHECK(list[0].name == "n");
  CHECK(list[0].description == "note abc");
  CHECK(list[0].bytes == 3);
}

TEST_CASE("resources: a destructor may use the manager") {
  ResourceManager manager;
  std::size_t seen = 99;
  auto make = [&] {
    return Result<std::shared_ptr<Curious>>(std::make_shared<Curious>(manager, seen));
  };
  REQUIRE(manager.lookup_or_create<Curious>("", "n", make).ok());
  CHECK(manager.remove<Curious>("", "n").ok());
  CHECK(seen == 0);
  for (int all : {0, 1}) {
    seen = 99;
    REQUIRE(manager.lookup_or_create<Curious>("", "n", make).ok());
    if (all)
      manager.clear();
    else
      manager.clear_container("");
    CHECK(seen == 0);
  }
}

TEST_CASE("resources: of many threads one makes") {
  ResourceManager manager;
  std::atomic<int> made{0};
  std::vector<std::shared_ptr<Note>> got(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < got.size(); ++t)
    threads.emplace_back([&, t] {
      auto make = [&] {
        ++made;
        return Result<std::shared_ptr<Note>>(std::make_shared<Note>("x"));
      };
      got[t] = *manager.lookup_or_create<Note>("", "n", make);
    });
  for (auto& t : threads)
    t.join();
  CHECK(made == 1);
  for (const auto& one : got)
    CHECK(one == got[0]);
}
