#include "actors/master_session/signature_cache.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("signatures: the order of names does not make another client graph") {
  SignatureCache cache;
  auto a = cache.bind({"x", "y:0"}, {"p:0", "q"}, {"t", "u"});
  auto b = cache.bind({"y", "x:0"}, {"q:0", "p"}, {"u", "t"});
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK((*a)->graph == (*b)->graph);
  CHECK(cache.size() == 1);
  CHECK((*a)->feed_index == std::vector<int>{0, 1});
  CHECK((*b)->feed_index == std::vector<int>{1, 0});
  CHECK((*b)->fetch_index == std::vector<int>{1, 0});
}

TEST_CASE("signatures: a tensor fetched twice is computed once and answered twice") {
  SignatureCache cache;
  auto bound = cache.bind({}, {"p", "p:0", "a"}, {});
  REQUIRE(bound.ok());
  CHECK((*bound)->graph->signature.fetches == std::vector<std::string>{"a:0", "p:0"});
  CHECK((*bound)->fetch_index == std::vector<int>{1, 1, 0});
}

TEST_CASE("signatures: a tensor fed twice is refused") {
  SignatureCache cache;
  auto bound = cache.bind({"x", "x:0"}, {"p"}, {});
  CHECK(bound.status() == invalid_argument("Endpoint \"x:0\" fed more than once."));
}

TEST_CASE("signatures: feeds, fetches and targets are told apart") {
  SignatureCache cache;
  CHECK((*cache.bind({"a"}, {"b"}, {}))->graph != (*cache.bind({}, {"a", "b"}, {}))->graph);
  CHECK((*cache.bind({}, {"b"}, {"a"}))->graph != (*cache.bind({}, {"a", "b"}, {}))->graph);
}

TEST_CASE("signatures: one that shows its parts is a graph of its own") {
  SignatureCache cache;
  auto plain = (*cache.bind({"a"}, {"b"}, {}))->graph;
  auto shown = (*cache.bind({"a:0"}, {"b"}, {}, GraphUse::shown_runs))->graph;
  CHECK(plain != shown);
  CHECK(plain->use == GraphUse::runs);
  CHECK(shown->use == GraphUse::shown_runs);
  CHECK((*cache.bind({"a"}, {"b:0"}, {}, GraphUse::shown_runs))->graph == shown);
}

TEST_CASE("signatures: what was bound is recalled by the same names in the same order only") {
  SignatureCache cache;
  using Feeds = std::vector<std::pair<std::string, int>>;
  CHECK(!cache.recall(Feeds{}, {"b"}, {}, GraphUse::runs));
  auto bound = *cache.bind({"x", "y"}, {"b", "c"}, {"t"});
  Feeds feeds{{"x", 1}, {"y", 2}};
  CHECK(cache.recall(feeds, {"b", "c"}, {"t"}, GraphUse::runs) == bound);
  CHECK(!cache.recall(feeds, {"c", "b"}, {"t"}, GraphUse::runs));
  CHECK(!cache.recall(feeds, {"b", "c"}, {}, GraphUse::runs));
  CHECK(!cache.recall(feeds, {"b", "c"}, {"t"}, GraphUse::shown_runs));
  CHECK(!cache.recall(Feeds{{"x", 1}}, {"b", "c"}, {"t"}, GraphUse::runs));
  CHECK(!cache.recall(Feeds{{"y", 2}, {"x", 1}}, {"b", "c"}, {"t"}, GraphUse::runs));
  cache.drop(bound->graph);
  CHECK(!cache.recall(feeds, {"b", "c"}, {"t"}, GraphUse::runs));
}

TEST_CASE("signatures: of many, each is recalled") {
  SignatureCache cache;
  using Feeds = std::vector<std::pair<std::string, int>>;
  std::vector<std::shared_ptr<const BoundSignature>> bound;
  for (int i = 0; i < 50; ++i)
    bound.push_back(*cache.bind({std::to_string(i)}, {"y"}, {}));
  for (int i = 0; i < 50; ++i)
    CHECK(cache.recall(Feeds{{std::to_string(i), i}}, {"y"}, {}, GraphUse::runs) ==
          bound[static_cast<std::size_t>(i)]);
}

TEST_CASE("signatures: a dropped one is made anew") {
  SignatureCache cache;
  auto first = (*cache.bind({}, {"a"}, {}))->graph;
  cache.drop(first);
  CHECK(cache.size() == 0);
  CHECK((*cache.bind({}, {"a"}, {}))->graph != first);
}

TEST_CASE("signatures: connections and watches make graphs of their own") {
  SignatureCache cache;
  auto plain = (*cache.bind({}, {"a"}, {}))->graph;
  GraphVariant connected;
  connected.connections = {{"k", "x"}};
  auto with = (*cache.bind({}, {"a"}, {}, connected))->graph;
  CHECK(with != plain);
  CHECK(with->signature.connections == std::vector<TensorConnection>{{"k:0", "x:0"}});
  connected.connections = {{"k:0", "x:0"}};
  CHECK((*cache.bind({}, {"a:0"}, {}, connected))->graph == with);
  connected.connections = {{"x", "k"}};
  CHECK((*cache.bind({}, {"a"}, {}, connected))->graph != with);
  auto watched = [&](const std::string& url) {
    GraphVariant variant;
    variant.watches = std::make_shared<const std::vector<DebugWatch>>(
        std::vector<DebugWatch>{{"a", 0, {"DebugIdentity"}, {url}, false}});
    return (*cache.bind({}, {"a"}, {}, variant))->graph;
  };
  CHECK(watched("file:///x") != plain);
  CHECK(watched("file:///x") == watched("file:///x"));
  CHECK(watched("file:///x") != watched("file:///y"));
  CHECK((*cache.bind({}, {"a"}, {}))->graph == plain);
}

TEST_CASE("signatures: those that were not run for longest make room, unless somebody holds them") {
  SignatureCache cache;
  auto make = [&](const std::string& name) {
    auto bound = *cache.bind({}, {name}, {});
    bound->graph->num_nodes = 10;
    return bound;
  };
  const auto held = make("held");
  (void)make("a");
  (void)make("b");
  (void)make("c");
  cache.touch(*make("a")->graph);
  CHECK(cache.take_unused(4, 40).empty());
  auto names_of = [](const auto& graphs) {
    std::vector<std::string> out;
    for (const auto& graph : graphs)
      out.push_back(graph->signature.fetches.at(0));
    return out;
  };
  CHECK(names_of(cache.take_unused(3, 40)) == std::vector<std::string>{"b:0"});
  CHECK(cache.size() == 3);
  CHECK(names_of(cache.take_unused(3, 25)) == std::vector<std::string>{"c:0"});
  CHECK(names_of(cache.take_unused(0, 0)) == std::vector<std::string>{"a:0"});
  CHECK(cache.size() == 1);
  CHECK(make("held") == held);
  const auto graph = held->graph; // of a graph alone, too
  CHECK(cache.take_unused(0, 0).empty());
}
