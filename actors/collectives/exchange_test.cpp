#include "actors/collectives/exchange.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>

using namespace troupe;

namespace {

std::shared_ptr<const CollectiveMath> adding() {
  auto out = std::make_shared<CollectiveMath>();
  out->merge = [](const void* a, const void* b, void* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      static_cast<std::int64_t*>(to)[i] =
          static_cast<const std::int64_t*>(a)[i] + static_cast<const std::int64_t*>(b)[i];
  };
  out->divide = [](void* x, std::int64_t count, int size) {
    for (std::int64_t i = 0; i < count; ++i)
      static_cast<std::int64_t*>(x)[i] /= size;
  };
  return out;
}

Tensor numbers(std::int64_t count, int seed) {
  Tensor out = Tensor::make(DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i)
    out.mutable_data<std::int64_t>()[static_cast<std::size_t>(i)] = seed * 1'000'003 + i * 17;
  return out;
}

/// All members of one collective; what is under way happens in any order.
struct Ring {
  CollectiveSpec spec;
  std::vector<std::unique_ptr<CollectiveExchange>> members;
  std::vector<Tensor> inputs, outputs;
  std::shared_ptr<const CollectiveMath> math = adding();
  struct Event {
    int member = 0;
    CollectiveExchange::Effect effect;
  };
  std::vector<Event> under_way;
  std::mt19937 random;

  Ring(CollectiveKind kind, CollectiveRoute route, int size, std::int64_t count, unsigned seed,
       std::int64_t piece_bytes = 24, bool divides = false)
      : random(seed) {
    spec.kind = kind;
    spec.group_size = size;
    spec.dtype = DType::int64;
    spec.shape = Shape{count};
    spec.merge = MergeOp::add;
    spec.divides = divides;
    std::int64_t out_count = count;
    if (kind == CollectiveKind::gather)
      out_count = count * size;
    if (kind == CollectiveKind::reduce_scatter)
      out_count = count / size;
    for (int i = 0; i < size; ++i) {
      const bool gives = kind != CollectiveKind::broadcast || i == source();
      inputs.push_back(gives ? numbers(count, i + 1) : Tensor());
      outputs.push_back(kind == CollectiveKind::broadcast && gives ? inputs.back()
                                                                   : numbers(out_count, 99));
      members.push_back(std::make_unique<CollectiveExchange>(CollectiveExchange::Setup{
          spec, route, i, kind == CollectiveKind::broadcast ? source() : -1, inputs.back(),
          outputs.back(), piece_bytes}));
    }
  }
  int source() const { return spec.group_size / 2; }
  void add(int member, CollectiveExchange::Effects effects) {
    for (auto& effect : effects)
      under_way.push_back({member, std::move(effect)});
  }
  /// Until nothing is under way.
  void run() {
    for (std::size_t i = 0; i < members.size(); ++i)
      add(static_cast<int>(i), members[i]->start());
    while (!under_way.empty())
      step();
  }
  void step() {
    std::swap(under_way[random() % under_way.size()], under_way.back());
    Event event = std::move(under_way.back());
    under_way.pop_back();
    if (auto* send = std::get_if<CollectiveExchange::Send>(&event.effect)) {
      // What is sent is copied when it leaves.
      auto effects = members[static_cast<std::size_t>(send->to)]->arrived(event.member, send->name,
                                                                          send->part.deep_copy());
      REQUIRE_MESSAGE(effects.ok(), effects.status().to_string());
      return add(send->to, *std::move(effects));
    }
    auto& member = *members[static_cast<std::size_t>(event.member)];
    if (auto* merge = std::get_if<CollectiveExchange::Merge>(&event.effect)) {
      merge_parts(*math, merge->parts, merge->out, merge->divide, spec.group_size);
      return add(event.member, member.job_done(merge->job));
    }
    auto& copy = std::get<CollectiveExchange::Copy>(event.effect);
    for (std::int64_t i = 0; i < copy.from.num_elements(); ++i)
      copy.out.mutable_data<std::int64_t>()[static_cast<std::size_t>(i)] =
          copy.from.data<std::int64_t>()[static_cast<std::size_t>(i)];
    add(event.member, member.job_done(copy.job));
  }
  std::int64_t in(int member, std::int64_t i) const {
    return inputs[static_cast<std::size_t>(member)]
        .data<std::int64_t>()[static_cast<std::size_t>(i)];
  }
  std::int64_t wanted(int rank, std::int64_t i) const {
    const int size = spec.group_size;
    const std::int64_t count = spec.shape.num_elements();
    std::int64_t sum = 0;
    switch (spec.kind) {
    case CollectiveKind::gather:
      return in(static_cast<int>(i / count), i % count);
    case CollectiveKind::broadcast:
      return in(source(), i);
    case CollectiveKind::all_to_all:
      return in(static_cast<int>(i / (count / size)), rank * (count / size) + i % (count / size));
    case CollectiveKind::reduce_scatter:
      i += rank * (count / size);
      [[fallthrough]];
    default:
      for (int m = 0; m < size; ++m)
        sum += in(m, i);
      return spec.divides ? sum / size : sum;
    }
  }
  void check() const {
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      CHECK(members[rank]->is_done());
      CHECK(members[rank]->waits_for().empty());
      const auto got = outputs[rank].data<std::int64_t>();
      bool right = true;
      for (std::size_t i = 0; i < got.size(); ++i)
        right = right && got[i] == wanted(static_cast<int>(rank), static_cast<std::int64_t>(i));
      CHECK(right);
    }
  }
};

constexpr CollectiveKind kinds[] = {CollectiveKind::reduce, CollectiveKind::gather,
                                    CollectiveKind::broadcast, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_to_all};

} // namespace

TEST_CASE("exchange: every kind gives its values, in whatever order pieces come and jobs end") {
  for (unsigned seed = 0; seed < 40; ++seed)
    for (CollectiveKind kind : kinds)
      for (CollectiveRoute route : {CollectiveRoute::direct, CollectiveRoute::ring}) {
        std::mt19937 random(seed);
        const int size = 2 + static_cast<int>(random() % 4);
        std::int64_t count = static_cast<std::int64_t>(random() % 60);
        if (kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all)
          count = count / size * size;
        const bool divides = kind == CollectiveKind::reduce && seed % 2 == 0;
        CAPTURE(to_string(kind));
        CAPTURE(size);
        CAPTURE(count);
        CAPTURE(seed);
        Ring ring(kind, route, size, count, seed, 8 * (1 + seed % 5), divides);
        ring.run();
        ring.check();
      }
}

TEST_CASE("exchange: a piece that is lost leaves its receivers waiting for its sender") {
  Ring ring(CollectiveKind::reduce, CollectiveRoute::direct, 3, 30, 7);
  for (std::size_t i = 0; i < 3; ++i)
    ring.add(static_cast<int>(i), ring.members[i]->start());
  const auto lost = std::ranges::find_if(ring.under_way, [](const Ring::Event& event) {
    const auto* send = std::get_if<CollectiveExchange::Send>(&event.effect);
    return send && event.member == 1 && send->to == 2;
  });
  REQUIRE(lost != ring.under_way.end());
  ring.under_way.erase(lost);
  while (!ring.under_way.empty())
    ring.step();
  for (const auto& member : ring.members)
    CHECK_FALSE(member->is_done());
  CHECK(ring.members[2]->waits_for() == std::vector<int>{1});
  CHECK(ring.members[0]->waits_for() == std::vector<int>{2});
}

TEST_CASE("exchange: a piece that nobody waits for, comes twice or has another size is refused") {
  Ring ring(CollectiveKind::reduce, CollectiveRoute::direct, 2, 4, 1, 1024);
  auto& member = *ring.members[0];
  (void)member.start();
  auto text = [](const Result<CollectiveExchange::Effects>& result) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().code() == Code::invalid_argument);
    return result.status().message();
  };
  CHECK(text(member.arrived(1, {0, 1, 0}, numbers(2, 1))) ==
        "rank 1 has sent piece 0 of share 1, which nobody waits for");
  CHECK(text(member.arrived(5, {0, 0, 0}, numbers(2, 1))) ==
        "rank 5 has sent piece 0 of share 0, which nobody waits for");
  CHECK(text(member.arrived(1, {0, 0, 0}, numbers(3, 1))) ==
        "rank 1 has sent 3 elements of int64, expected 2 of int64");
  CHECK(text(member.arrived(1, {0, 0, 0}, numbers(2, 1))) ==
        "rank 1 has sent piece 0 of share 0, which nobody waits for");
}

TEST_CASE("exchange: of small values each member computes what it gets by itself") {
  for (CollectiveKind kind : kinds)
    for (int size : {2, 3})
      for (std::int64_t count : {0, 6, 12}) {
        CAPTURE(to_string(kind));
        Ring ring(kind, CollectiveRoute::direct, size, count, 3);
        for (int rank = 0; rank < size; ++rank) {
          const Status status =
              combine_small(ring.spec, rank, ring.source(), ring.inputs, ring.math.get(),
                            ring.outputs[static_cast<std::size_t>(rank)]);
          CHECK_MESSAGE(status.ok(), status.to_string());
        }
        CollectiveExchange::Setup nothing; // was sent: for check()
        nothing.spec.kind = CollectiveKind::barrier;
        nothing.spec.dtype = DType::int64;
        for (auto& member : ring.members)
          member = std::make_unique<CollectiveExchange>(nothing);
        ring.check();
      }
  CollectiveSpec spec;
  spec.group_size = 2;
  spec.dtype = DType::int64;
  spec.shape = Shape{3};
  const Status wrong =
      combine_small(spec, 0, -1, {numbers(3, 1), numbers(2, 1)}, adding().get(), numbers(3, 0));
  CHECK(wrong.code() == Code::internal);
}
