#include "kernels/arith/half.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include "kernels/arith/philox.hpp"
#include <algorithm>

namespace troupe::arith::philox_test {
namespace {

template <class Fill>
std::vector<float> floats(int64_t n, Fill fill) {
  std::vector<float> out(static_cast<size_t>(n));
  fill(out.data());
  return out;
}

void check_equal(const std::vector<float>& got, const std::vector<float>& want) {
  REQUIRE(got.size() >= want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == want[i]);
  }
}

TEST_CASE("the first block equals Random123's known answer, and the counter carries") {
  Philox generator;
  CHECK(generator.next() == Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(generator.counter() == Philox::Block{1, 0, 0, 0});
  Philox carried({0xffffffff, 0xffffffff, 0xffffffff, 7}, {1, 2});
  carried.skip(1);
  CHECK(carried.counter() == Philox::Block{0, 0, 0, 8});
  Philox far({5, 0, 0, 0}, {});
  far.skip(0xffffffffffffffff);
  CHECK(far.counter() == Philox::Block{4, 0, 1, 0});
}

TEST_CASE("normal numbers equal those in TensorFlow's documentation for set_seed(5), seed=1") {
  check_equal(
      floats(4,
             [](float* out) { fill_normal(Type::float32, Philox::from_seeds(5, 1), out, 0, 4); }),
      {-1.37688971f, -0.012583158f, -0.169514999f, 1.08240557f});
}

TEST_CASE("two calls for one integer equal TensorFlow's documentation: 256 blocks are reserved for "
          "an output") {
  Philox generator = Philox::from_seeds(5, 10);
  int32_t first = -1, second = -1;
  CHECK(fill_uniform_int(Type::int32, generator, 0, 3, &first, 0, 1));
  generator.skip(reserved_blocks(1));
  CHECK(fill_uniform_int(Type::int32, generator, 0, 3, &second, 0, 1));
  CHECK(first == 2);
  CHECK(second == 0);
}

TEST_CASE("a stateful generator's first normal number equals TensorFlow's guide") {
  check_equal(floats(1,
                     [](float* out) {
                       fill_normal(Type::float32, Philox({1, 0, 0, 0}, {0, 0}), out, 0, 1);
                     }),
              {0.43842274f});
}

TEST_CASE("uniform, normal and truncated normal numbers of seeds 87654321 and 42") {
  Philox generator = Philox::from_seeds(87654321, 42);
  auto uniform = [&](float* out) { fill_uniform(Type::float32, generator, out, 0, 8); };
  check_equal(floats(8, uniform), {0.952271461f, 0.677407742f, 0.795318246f, 0.75578177f,
                                   0.475955606f, 0.631014824f, 0.186020374f, 0.114307761f});
  check_equal(floats(8, [&](float* out) { fill_normal(Type::float32, generator, out, 0, 8); }),
              {-0.28077507f, -0.137752101f, -0.676329613f, 0.0245804135f, -0.893584549f,
               -0.82847327f, 1.2068944f, 1.38101566f});
  check_equal(
      floats(8, [&](float* out) { fill_truncated_normal(Type::float32, generator, out, 0, 8); }),
      {-0.28077507f, -0.137752101f, -0.676329613f, 0.0245804135f, -0.468454719f, -0.00246631843f,
       -0.974591076f, 0.663849175f});
  generator.skip(reserved_blocks(8));
  check_equal(floats(8, uniform), {0.885704637f, 0.954622984f, 0.671190023f, 0.307806611f,
                                   0.0667790174f, 0.735801339f, 0.288469195f, 0.141247869f});
}

TEST_CASE("stateless numbers of seed [1, 2]") {
  const Philox generator = Philox::from_stateless_seed(1, 2);
  check_equal(floats(4, [&](float* out) { fill_uniform(Type::float32, generator, out, 0, 4); }),
              {0.844060421f, 0.192045331f, 0.996223211f, 0.160387397f});
  check_equal(floats(4, [&](float* out) { fill_normal(Type::float32, generator, out, 0, 4); }),
              {0.544110119f, 0.20738031f, 0.0735643208f, 0.0464345515f});
}

TEST_CASE("any split of a fill gives the same numbers, for every type") {
  const Philox start = Philox::from_seeds(3, 4);
  using Fill = bool (*)(Type, const Philox&, void*, int64_t, int64_t);
  for (Fill fill : {Fill(fill_uniform), Fill(fill_normal), Fill(fill_truncated_normal),
                    Fill([](Type type, const Philox&p, void*out, int64_t b, int64_t e) {
                      return fill_uniform_int(type, p, -5, 1000, out, b, e);
                    })})
    for (Type type :
         {Type::float32, Type::float64, Type::float16, Type::bfloat16, Type::int32, Type::int64}) {
      std::vector<uint8_t> whole(101 * 8), parts(101 * 8);
      if (!fill(type, start, whole.data(), 0, 101))
        continue;
      for (auto [begin, end] : {std::pair{50, 101}, {0, 1}, {1, 7}, {7, 50}})
        fill(type, start, parts.data(), begin, end);
      CHECK(whole == parts);
      CHECK(std::count(whole.begin(), whole.end(), 0) < 808 - 150);
    }
}

TEST_CASE("blocks drawn at once are those drawn one by one, with strides and over a carry") {
  on_each_isa([] {
    for (uint64_t lower : {uint64_t{0}, uint64_t{0xfffffffe}, ~uint64_t{0} - 700, ~uint64_t{0}})
      for (uint64_t stride : {uint64_t{1}, uint64_t{128}, ~uint64_t{0} / 3})
        for (int64_t blocks : {0, 1, 2, 3, 7, 8, 9, 33}) {
          CAPTURE(lower);
          CAPTURE(stride);
          CAPTURE(blocks);
          const Philox start(
              {static_cast<uint32_t>(lower), static_cast<uint32_t>(lower >> 32), 0xffffffff, 17},
              {0x12345678, 0x9abcdef0});
          Philox at_once = start, one_by_one = start;
          std::vector<uint32_t> words(static_cast<size_t>(4 * blocks + 1), 77), want;
          at_once.draw(blocks, words.data(), stride);
          for (int64_t block = 0; block < blocks; ++block) {
            Philox here = one_by_one;
            for (uint32_t word : here.next())
              want.push_back(word);
            one_by_one.skip(stride);
          }
          want.push_back(77);
          CHECK(words == want);
          CHECK(at_once.counter() == one_by_one.counter());
        }
  });
}

TEST_CASE("uniform numbers of each type are made of the bits that TensorFlow takes") {
  const Philox start = Philox::from_seeds(11, 12);
  constexpr int64_t n = 1501; // of f64 as many words as two rooms have, and some
  std::vector<uint32_t> words(2 * n + 4);
  Philox(start).draw((2 * n + 3) / 4, words.data());
  on_each_isa([&] {
    std::vector<float> singles(n);
    std::vector<double> doubles(n);
    std::vector<uint16_t> halves(n), brains(n);
    fill_uniform(Type::float32, start, singles.data(), 0, n);
    fill_uniform(Type::float64, start, doubles.data(), 0, n);
    fill_uniform(Type::float16, start, halves.data(), 0, n);
    fill_uniform(Type::bfloat16, start, brains.data(), 0, n);
    for (size_t i = 0; i < n; ++i) {
      CAPTURE(i);
      CHECK(singles[i] == static_cast<float>(words[i] & 0x7fffff) * 0x1p-23f);
      CHECK(doubles[i] ==
            static_cast<double>((words[2 * i] & 0xfffffull) << 32 | words[2 * i + 1]) * 0x1p-52);
      CHECK(halves[i] == f32_to_f16(static_cast<float>(words[i] & 0x3ff) / 1024));
      CHECK(brains[i] == f32_to_bf16(static_cast<float>(words[i] & 0x7f) / 128));
    }
  });
}

TEST_CASE("distributions have their ranges and moments") {
  const Philox start = Philox::from_seeds(1, 1);
  constexpr int64_t n = 20000;
  std::vector<double> x(n);
  fill_uniform(Type::float64, start, x.data(), 0, n);
  CHECK(std::all_of(x.begin(), x.end(), [](double v) { return v >= 0 && v < 1; }));
  double sum = 0, squares = 0;
  fill_normal(Type::float64, start, x.data(), 0, n);
  for (double v : x) {
    sum += v;
    squares += v * v;
  }
  CHECK(std::abs(sum / n) < 0.03);
  CHECK(std::abs(squares / n - 1) < 0.05);
  fill_truncated_normal(Type::float64, start, x.data(), 0, n);
  CHECK(std::all_of(x.begin(), x.end(), [](double v) { return std::abs(v) < 2; }));
  std::vector<uint16_t> halves(n);
  for (Type type : {Type::float16, Type::bfloat16}) {
    fill_uniform(type, start, halves.data(), 0, n);
    CHECK(std::all_of(halves.begin(), halves.end(), [&](uint16_t h) {
      const float v = type == Type::float16 ? f16_to_f32(h) : bf16_to_f32(h);
      return v >= 0 && v < 1;
    }));
  }
  std::vector<int64_t> whole(n);
  fill_uniform_int(Type::int64, start, -3, 4, whole.data(), 0, n);
  const auto [low, high] = std::minmax_element(whole.begin(), whole.end());
  CHECK(*low == -3);
  CHECK(*high == 3);
  CHECK_FALSE(fill_uniform(Type::int32, start, x.data(), 0, 1));
  CHECK_FALSE(fill_uniform_int(Type::float32, start, 0, 1, x.data(), 0, 1));
}

TEST_CASE("a shuffle is a permutation drawn by the rule of swaps") {
  std::vector<int64_t> order(10), sorted(10);
  Philox generator = Philox::from_seeds(7, 8);
  shuffle_order(generator, order);
  std::vector<uint32_t> words;
  while (words.size() < 9)
    for (uint32_t word : generator.next())
      words.push_back(word);
  std::vector<int64_t> want(10);
  for (size_t i = 0; i < 10; ++i)
    sorted[i] = want[i] = static_cast<int64_t>(i);
  for (size_t i = 0; i < 9; ++i)
    std::swap(want[i], want[i + words[i] % (10 - i)]);
  CHECK(order == want);
  std::sort(order.begin(), order.end());
  CHECK(order == sorted);
  CHECK(shuffle_blocks(0) == 0);
  CHECK(shuffle_blocks(1) == 0);
  CHECK(shuffle_blocks(2) == 1);
  CHECK(shuffle_blocks(10) == 3);
}

} // namespace
} // namespace troupe::arith::philox_test
