// WindowDataset: several elements as one: a dataset for each component.
#include "kernels/data/internal/window.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "kernels/data/internal/register.hpp"

namespace troupe::data_window {

using namespace data;

namespace {

class WindowDataset final : public UnaryDataset {
public:
  WindowDataset(const KernelContext& c, DatasetRef input, std::int64_t size, std::int64_t shift,
                std::int64_t stride, bool drop_remainder)
      : UnaryDataset(c, std::move(input)), size_(size), shift_(shift), stride_(stride),
        drop_remainder_(drop_remainder) {}
  std::int64_t cardinality() const override {
    const std::int64_t n = input().cardinality();
    if (n < 0)
      return n;
    if (drop_remainder_) {
      const std::int64_t rest = n - span();
      return rest < 0 ? 0 : rest / shift_ + 1;
    }
    return n / shift_ + (n % shift_ == 0 ? 0 : 1);
  }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    return iterate_over<Windows>(this, pipeline, pipeline->memory());
  }
  /// How many elements of the input a whole window spans.
  std::int64_t span() const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(size_ - 1, stride_, &product) ||
        product == std::numeric_limits<std::int64_t>::max())
      return std::numeric_limits<std::int64_t>::max();
    return product + 1;
  }

private:
  /// An element, or the error that came in its place, which its window tells.
  struct Place {
    Element element;
    Status status;
  };

  class Windows final : public IteratorOver<WindowDataset> {
  public:
    Windows(std::shared_ptr<const WindowDataset> dataset, IteratorRef input, Allocator& memory)
        : IteratorOver(std::move(dataset), std::move(input)), charge_(memory) {}

    Async<Next> next(ElementPull& pull) override {
      const std::int64_t span = dataset().span();
      while (!input_has_ended_ && static_cast<std::int64_t>(buffer_.size()) < span) {
        TROUPE_CO_TRY(co_await pull.breathe());
        Next element = co_await input()->next(pull);
        if (element.ok() && !*element)
          input_has_ended_ = true;
        else if (pull.cancellation().is_cancelled())
          co_return element.status();
        else
          TROUPE_CO_TRY(
              keep(element.ok() ? Place{**std::move(element), {}} : Place{{}, element.status()}));
      }
      if (buffer_.empty() ||
          (dataset().drop_remainder_ && static_cast<std::int64_t>(buffer_.size()) < span))
        co_return end_of_sequence();
      Next window = window_of_buffer(pull.pipeline().memory());
      TROUPE_CO_TRY(co_await shift(pull));
      co_return window;
    }

    Async<Status> save(ElementPull& pull, StateWriter to) override {
      to.put("input_has_ended", input_has_ended_);
      to.put("size", static_cast<std::int64_t>(buffer_.size()));
      for (std::size_t i = 0; i < buffer_.size(); ++i) {
        to.put_status(str_cat("status", i), buffer_[i].status);
        to.put_all(str_cat("element", i), buffer_[i].element);
      }
      return IteratorOver::save(pull, to);
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(input_has_ended_, from.integer("input_has_ended"));
      TROUPE_CO_ASSIGN(const std::size_t size, from.count("size"));
      for (std::size_t i = 0; i < size; ++i) {
        Place place;
        TROUPE_CO_TRY(from.read_status(str_cat("status", i), place.status));
        TROUPE_CO_ASSIGN(place.element, from.all(str_cat("element", i)));
        TROUPE_CO_TRY(keep(std::move(place)));
      }
      co_return co_await IteratorOver::restore(pull, from);
    }

  private:
    Status keep(Place place) {
      TROUPE_TRY(charge_.add(bytes_of_holding(place.element)));
      buffer_.push_back(std::move(place));
      return {};
    }
    void drop_first() {
      charge_.release(bytes_of_holding(buffer_.front().element));
      buffer_.pop_front();
    }

    Next window_of_buffer(Allocator& memory) const {
      const auto& types = dataset().input().types();
      const auto& shapes = dataset().input().shapes();
      std::vector<Elements> components;
      for (std::size_t k = 0; k < types.size(); ++k)
        components.emplace_back(memory);
      for (std::size_t i = 0; i < buffer_.size();
           i += static_cast<std::size_t>(dataset().stride_)) {
        TROUPE_TRY(buffer_[i].status);
        TROUPE_TRY(check_element(types, {}, buffer_[i].element));
        for (std::size_t k = 0; k < types.size(); ++k)
          TROUPE_TRY(components[k].push({buffer_[i].element[k]}));
      }
      Element out;
      for (std::size_t k = 0; k < types.size(); ++k)
        out.push_back(
            tensor_of(dataset_of_elements(std::move(components[k]), {types[k]}, {shapes[k]})));
      return one_more(std::move(out));
    }

    // On to the next window. Errors of elements that are in none are nobody's.
    Async<Status> shift(ElementPull& pull) {
      std::int64_t left = dataset().shift_;
      for (; left > 0 && !buffer_.empty(); --left)
        drop_first();
      for (; left > 0 && !input_has_ended_; --left) {
        TROUPE_CO_TRY(co_await pull.breathe());
        Next element = co_await input()->next(pull);
        input_has_ended_ = element.ok() && !*element;
      }
      co_return Status();
    }

    Charge charge_;
    std::deque<Place> buffer_;
    bool input_has_ended_ = false;
  };

  const std::int64_t size_, shift_, stride_;
  const bool drop_remainder_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(DatasetRef input, input_dataset(c, 0));
  TROUPE_ASSIGN(const auto size, scalar_input<std::int64_t>(c, 1));
  if (size <= 0)
    return invalid_argument("Window size must be greater than zero.");
  TROUPE_ASSIGN(const auto shift, scalar_input<std::int64_t>(c, 2));
  if (shift <= 0)
    return invalid_argument("Window shift must be greater than zero.");
  TROUPE_ASSIGN(const auto stride, scalar_input<std::int64_t>(c, 3));
  if (stride <= 0)
    return invalid_argument("Window stride must be greater than zero.");
  TROUPE_ASSIGN(const bool drop_remainder, scalar_input<bool>(c, 4));
  return new_dataset<WindowDataset>(c, std::move(input), size, shift, stride, drop_remainder);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("WindowDataset")
      .input("input_dataset: variant; size: int64; shift: int64; stride: int64")
      .input("drop_remainder: bool")
      .output("handle: variant")
      .attr(typed)
      .attr(with_metadata)
      .shape_fn(shapes_of_scalars<1, 2, 3, 4>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("Elements of up to `size` elements of the input, each `stride` behind the one before; "
           "each component is a dataset. The next one begins `shift` further.");
}

} // namespace troupe::data_window
