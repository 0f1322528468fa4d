// ShuffleDataset (versions 1 to 3), ShuffleAndRepeatDataset (1 and 2): elements in the order that a
// buffer's random choices give, number for number as TensorFlow's.
//
// The buffer holds elements of up to four epochs, one behind the other. Elements leave the first
// epoch alone, so epochs do not mix, while the next ones move up.
#include <deque>
#include <limits>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"
#include "kernels/data/internal/seed_generator.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::data_shuffle {

using namespace data;
using data::unknown;

namespace {

constexpr std::size_t most_epochs = 3;

class ShuffleDataset final : public UnaryDataset {
public:
  ShuffleDataset(const KernelContext& c, DatasetRef input, std::int64_t buffer_size,
                 std::int64_t count, std::shared_ptr<SeedGenerator> seeds)
      : UnaryDataset(c, std::move(input)), buffer_size_(buffer_size), count_(count),
        seeds_(std::move(seeds)), owns_seeds_(seeds_.use_count() == 1) {}
  SharedOrder* shared_order() const override {
    return owns_seeds_ && seeds_->reshuffles() ? &order_ : nullptr;
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (count_ == -1 || n == infinite)
      return infinite;
    if (n == unknown)
      return unknown;
    std::int64_t product = 0;
    return __builtin_mul_overflow(n, count_, &product) ? std::numeric_limits<std::int64_t>::max()
                                                       : product;
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return IteratorRef(std::make_unique<Shuffled>(self<ShuffleDataset>(), pipeline));
  }

private:
  class Shuffled final : public Iterator {
  public:
    Shuffled(std::shared_ptr<const ShuffleDataset> dataset, std::shared_ptr<Pipeline> pipeline)
        : dataset_(std::move(dataset)), pipeline_(std::move(pipeline)),
          buffer_(pipeline_->memory()), seeds_(dataset_->seeds_->next()), words_(seeds_) {}

    Async<Next> next(ElementPull& pull) override {
      TROUPE_CO_TRY(begin());
      TROUPE_CO_TRY(co_await fill(pull));
      if (buffer_.empty())
        co_return end_of_sequence();
      while (epochs_.front() == 0) {
        epochs_.pop_front();
        seeds_ = dataset_->seeds_->next();
        words_ = CountedWords(seeds_);
      }
      const std::int64_t choice = std::int64_t{words_.next()} % epochs_.front();
      std::swap(buffer_[0], buffer_[static_cast<std::size_t>(choice)]);
      --epochs_.front();
      co_return one_more(buffer_.pop());
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("generator_drawn", dataset_->seeds_->drawn());
      to.put("seed", seeds_.first);
      to.put("seed2", seeds_.second);
      to.put("drawn", words_.drawn());
      to.put("epoch", epoch_);
      to.put("has_begun", has_begun_);
      to.put("has_produced", has_produced_);
      buffer_.save(to.in("buffer"));
      to.put("epochs", static_cast<std::int64_t>(epochs_.size()));
      for (std::size_t i = 0; i < epochs_.size(); ++i)
        to.put(str_cat("epoch", i), epochs_[i]);
      to.put("has_input", input_ != nullptr);
      if (input_)
        TROUPE_CO_TRY(co_await input_->save(pull, to.in("input")));
      co_return Status();
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t generator_drawn, from.integer("generator_drawn"));
      TROUPE_CO_ASSIGN(seeds_.first, from.integer("seed"));
      TROUPE_CO_ASSIGN(seeds_.second, from.integer("seed2"));
      TROUPE_CO_ASSIGN(const std::int64_t drawn, from.integer("drawn"));
      if (generator_drawn < 0 || drawn < 0)
        co_return data_loss("the state of the iterator counts fewer than no numbers");
      dataset_->seeds_->set_drawn(generator_drawn);
      words_ = CountedWords(seeds_, drawn);
      TROUPE_CO_ASSIGN(epoch_, from.integer("epoch"));
      TROUPE_CO_ASSIGN(has_begun_, from.integer("has_begun"));
      TROUPE_CO_ASSIGN(has_produced_, from.integer("has_produced"));
      TROUPE_CO_TRY(buffer_.restore(from.in("buffer")));
      TROUPE_CO_ASSIGN(const std::size_t epochs, from.count("epochs"));
      epochs_.clear();
      std::int64_t held = 0;
      for (std::size_t i = 0; i < epochs; ++i) {
        TROUPE_CO_ASSIGN(const std::int64_t size, from.integer(str_cat("epoch", i)));
        if (size < 0 || size > static_cast<std::int64_t>(buffer_.size()))
          co_return data_loss("the state of the iterator has an epoch of no size");
        epochs_.push_back(size);
        held += size;
      }
      if (epochs_.empty() || held != static_cast<std::int64_t>(buffer_.size()))
        co_return data_loss("the epochs of the iterator's state are not its buffer");
      TROUPE_CO_ASSIGN(const std::int64_t has_input, from.integer("has_input"));
      input_ = nullptr;
      if (has_input) {
        TROUPE_CO_ASSIGN(input_, dataset_->input().iterate(pipeline_));
        TROUPE_CO_TRY(co_await input_->restore(pull, from.in("input")));
      }
      co_return Status();
    }

  private:
    Status begin() {
      if (has_begun_)
        return {};
      TROUPE_ASSIGN(input_, dataset_->input().iterate(pipeline_));
      has_begun_ = true;
      return {};
    }

    Async<Status> fill(ElementPull& pull) {
      const std::int64_t count = dataset_->count_;
      while (input_ && static_cast<std::int64_t>(buffer_.size()) < dataset_->buffer_size_) {
        TROUPE_CO_TRY(co_await pull.breathe());
        std::optional<Element> element;
        while (count == -1 || epoch_ < count) {
          TROUPE_CO_ASSIGN(element, co_await input_->next(pull));
          if (element) {
            has_produced_ = true;
            break;
          }
          if (!has_produced_ && count == -1) { // it would be begun for ever
            input_ = nullptr;
            co_return Status();
          }
          ++epoch_;
          epochs_.push_back(0);
          TROUPE_CO_ASSIGN(input_, dataset_->input().iterate(pipeline_));
          TROUPE_CO_TRY(co_await pull.breathe());
        }
        if (element) {
          TROUPE_CO_TRY(buffer_.push(*std::move(element)));
          ++epochs_.back();
        } else {
          input_ = nullptr;
        }
        if (epochs_.size() > most_epochs)
          break;
      }
      co_return Status();
    }

    std::shared_ptr<const ShuffleDataset> dataset_;
    std::shared_ptr<Pipeline> pipeline_;
    IteratorRef input_; // null before the beginning and after the end
    Elements buffer_;
    std::deque<std::int64_t> epochs_{0}; // sizes of their parts of the buffer
    Seeds seeds_;
    CountedWords words_;
    std::int64_t epoch_ = 0;
    bool has_begun_ = false, has_produced_ = false;
  };

  const std::int64_t buffer_size_, count_;
  const std::shared_ptr<SeedGenerator> seeds_;
  const bool owns_seeds_; ///< else they are a resource's
  mutable SharedOrder order_;
};

Result<std::int64_t> buffer_size_of(const KernelContext& c) {
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size == unknown)
    return std::numeric_limits<std::int64_t>::max();
  if (size <= 0)
    return invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  return size;
}

Result<Seeds> seeds_of(const KernelContext& c) {
  TROUPE_ASSIGN(const auto first, scalar_input<std::int64_t>(c, 2));
  TROUPE_ASSIGN(const auto second, scalar_input<std::int64_t>(c, 3));
  return Seeds{first, second};
}

/// The one that input `i` names; one of our own where it names none.
Result<std::shared_ptr<SeedGenerator>> generator_of(KernelContext& c, int i, Seeds seeds) {
  auto named = input_resource<SeedGenerator>(c, i);
  if (named.ok() || named.status().code() != Code::not_found)
    return named;
  return std::make_shared<SeedGenerator>(seeds, c.attrs().get_or("reshuffle_each_iteration", true));
}

template <int version>
Result<DatasetRef> make_shuffle(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const std::int64_t size, buffer_size_of(c));
  Seeds seeds;
  if constexpr (version != 2) {
    TROUPE_ASSIGN(seeds, seeds_of(c));
  }
  std::shared_ptr<SeedGenerator> generator;
  if constexpr (version == 1) {
    generator =
        std::make_shared<SeedGenerator>(seeds, c.attrs().get_or("reshuffle_each_iteration", true));
  } else {
    TROUPE_ASSIGN(generator, generator_of(c, version == 2 ? 2 : 4, seeds));
  }
  return new_dataset<ShuffleDataset>(c, std::move(input), size, 1, std::move(generator));
}

template <int version>
Result<DatasetRef> make_repeated(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const std::int64_t size, buffer_size_of(c));
  TROUPE_ASSIGN(const Seeds seeds, seeds_of(c));
  TROUPE_ASSIGN(const auto count, scalar_input<std::int64_t>(c, 4));
  if (count <= 0 && count != -1)
    return invalid_argument("count must be greater than zero or equal to -1.");
  std::shared_ptr<SeedGenerator> generator;
  if constexpr (version == 1) {
    generator =
        std::make_shared<SeedGenerator>(seeds, c.attrs().get_or("reshuffle_each_iteration", true));
  } else {
    TROUPE_ASSIGN(generator, generator_of(c, 5, seeds));
  }
  return new_dataset<ShuffleDataset>(c, std::move(input), size, count, std::move(generator));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ShuffleDataset")
      .input("input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64")
      .output("handle: variant")
      .attr("reshuffle_each_iteration: bool = true")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::random)
      .shape_fn(shapes_of_scalars<1, 2, 3>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_shuffle<1>>)
      .doc("The elements in random order: each is one of the next `buffer_size` ones.");
  library.op("ShuffleDatasetV2")
      .input("input_dataset: variant; buffer_size: int64; seed_generator: resource")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_shuffle<2>>)
      .doc("The elements in random order, by the seeds of a generator.");
  library.op("ShuffleDatasetV3")
      .input("input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64")
      .input("seed_generator: resource")
      .output("handle: variant")
      .attr("reshuffle_each_iteration: bool = true")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<1, 2, 3, 4>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_shuffle<3>>)
      .doc("The elements in random order, by the seeds of a generator, or these.");
  library.op("ShuffleAndRepeatDataset")
      .input("input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64; count: int64")
      .output("handle: variant")
      .attr(typed)
      .attr("reshuffle_each_iteration: bool = true; metadata: string = ''")
      .roles(Role::random)
      .shape_fn(shapes_of_scalars<1, 2, 3, 4>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_repeated<1>>)
      .doc("The elements in random order, `count` times; for ever if it is -1.");
  library.op("ShuffleAndRepeatDatasetV2")
      .input("input_dataset: variant; buffer_size: int64; seed: int64; seed2: int64; count: int64")
      .input("seed_generator: resource")
      .output("handle: variant")
      .attr("reshuffle_each_iteration: bool = true")
      .attr(typed)
      .attr(with_metadata)
      .stateful()
      .shape_fn(shapes_of_scalars<1, 2, 3, 4, 5>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make_repeated<2>>)
      .doc("The elements in random order, `count` times, by the seeds of a generator, or these.");
}

} // namespace troupe::data_shuffle
