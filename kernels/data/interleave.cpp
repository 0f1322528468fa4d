// InterleaveDataset: the datasets that a function makes of the elements, several at a time, some
// elements of each in turn.
#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"

namespace troupe::data_interleave {

using namespace data;
using data::unknown;

namespace {

/// What an open iterator takes, about.
constexpr std::size_t bytes_of_iterator = 4096;

class InterleaveDataset final : public UnaryDataset {
public:
  InterleaveDataset(const KernelContext& c, DatasetRef input, CapturedFunction function,
                    std::int64_t cycle_length, std::int64_t block_length)
      : UnaryDataset(c, std::move(input)), function_(std::move(function)),
        cycle_length_(cycle_length), block_length_(block_length) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(BoundFunction function, pipeline->bind(function_));
    return iterate_over<Interleaved>(this, pipeline, std::move(function), pipeline);
  }
  Status check_external_state() const override {
    TROUPE_TRY(function_.check_external_state());
    return Dataset::check_external_state();
  }

private:
  /// A place in the cycle: an iterator, and what its dataset was made of.
  struct Place {
    Element made_of;
    IteratorRef iterator;
  };

  class Interleaved final : public IteratorOver<InterleaveDataset> {
  public:
    Interleaved(std::shared_ptr<const InterleaveDataset> dataset, IteratorRef input,
                BoundFunction function, std::shared_ptr<Pipeline> pipeline)
        : IteratorOver(std::move(dataset), std::move(input)), function_(std::move(function)),
          pipeline_(std::move(pipeline)), charge_(pipeline_->memory()) {}

    Async<Next> next(ElementPull& pull) override {
      while (!input_has_ended_ || num_open_ > 0) {
        TROUPE_CO_TRY(co_await pull.breathe());
        if (Place* place = current(); place && place->iterator) {
          TROUPE_CO_ASSIGN(std::optional<Element> element, co_await place->iterator->next(pull));
          if (element) {
            if (++in_block_ == dataset().block_length_)
              go_to_next();
            co_return one_more(*std::move(element));
          }
          *place = Place();
          charge_.release(bytes_of_iterator);
          --num_open_;
          go_to_next();
        } else if (!input_has_ended_) {
          TROUPE_CO_ASSIGN(std::optional<Element> made_of, co_await input()->next(pull));
          if (made_of)
            TROUPE_CO_TRY(co_await open(*std::move(made_of), pull));
          else
            input_has_ended_ = true;
        } else {
          go_to_next();
        }
      }
      co_return end_of_sequence();
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("at", at_);
      to.put("in_block", in_block_);
      to.put("input_has_ended", input_has_ended_);
      to.put("places", static_cast<std::int64_t>(places_.size()));
      for (std::size_t i = 0; i < places_.size(); ++i) {
        const StateWriter place = to.in("place", i);
        place.put("is_open", places_[i].iterator != nullptr);
        if (!places_[i].iterator)
          continue;
        place.put_all("made_of", places_[i].made_of);
        TROUPE_CO_TRY(co_await places_[i].iterator->save(pull, place));
      }
      co_return co_await IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(in_block_, from.integer("in_block"));
      TROUPE_CO_ASSIGN(input_has_ended_, from.integer("input_has_ended"));
      TROUPE_CO_ASSIGN(const std::size_t places, from.count("places"));
      for (std::size_t i = 0; i < places; ++i) {
        const StateReader place = from.in("place", i);
        at_ = static_cast<std::int64_t>(i);
        places_.resize(i + 1);
        TROUPE_CO_ASSIGN(const std::int64_t is_open, place.integer("is_open"));
        if (!is_open)
          continue;
        TROUPE_CO_ASSIGN(Element made_of, place.all("made_of"));
        TROUPE_CO_TRY(co_await open(std::move(made_of), pull));
        TROUPE_CO_TRY(co_await places_[i].iterator->restore(pull, place));
      }
      TROUPE_CO_ASSIGN(at_, from.integer("at"));
      if (at_ < 0 || at_ >= dataset().cycle_length_)
        co_return data_loss("the state of the iterator is beyond its cycle");
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    // Places come to be when they are needed: a cycle may be longer than its input.
    Place* current() {
      const auto at = static_cast<std::size_t>(at_);
      return at < places_.size() ? &places_[at] : nullptr;
    }
    void go_to_next() {
      in_block_ = 0;
      at_ = (at_ + 1) % dataset().cycle_length_;
      if (input_has_ended_ && !current())
        at_ = 0;
    }
    Async<Status> open(Element made_of, ElementPull& pull) {
      TROUPE_CO_ASSIGN(IteratorRef iterator,
                       co_await iterator_of_element(function_, made_of, pipeline_, pull));
      TROUPE_CO_TRY(charge_.add(bytes_of_iterator));
      if (!current())
        places_.resize(static_cast<std::size_t>(at_) + 1);
      *current() = Place{std::move(made_of), std::move(iterator)};
      ++num_open_;
      co_return Status();
    }

    BoundFunction function_;
    std::shared_ptr<Pipeline> pipeline_;
    Charge charge_;
    std::vector<Place> places_;
    std::int64_t at_ = 0, in_block_ = 0;
    std::int64_t num_open_ = 0;
    bool input_has_ended_ = false;
  };

  const CapturedFunction function_;
  const std::int64_t cycle_length_, block_length_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(auto cycle_length, scalar_input<std::int64_t>(c, c.num_inputs() - 2));
  if (cycle_length == autotune)
    cycle_length = c.device().compute().threads();
  if (cycle_length <= 0)
    return invalid_argument("cycle_length must be greater than zero.");
  TROUPE_ASSIGN(const auto block_length, scalar_input<std::int64_t>(c, c.num_inputs() - 1));
  if (block_length <= 0)
    return invalid_argument("block_length must be greater than zero.");
  TROUPE_ASSIGN(CapturedFunction function, captured_function(c, "f"));
  return new_dataset<InterleaveDataset>(c, std::move(input), std::move(function), cycle_length,
                                        block_length);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("InterleaveDataset")
      .input("input_dataset: variant; other_arguments: Targuments")
      .input("cycle_length: int64; block_length: int64")
      .output("handle: variant")
      .attr("f: func; Targuments: list(type) >= 0")
      .attr(typed)
      .attr(with_metadata)
      .roles(Role::runs_functions)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The elements of the datasets that `f` makes of the elements: of `cycle_length` of them "
           "in turn, `block_length` each time.");
}

} // namespace troupe::data_interleave
