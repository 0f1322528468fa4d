// Unbatch: each step of a batch gets its rows of what was computed of it. UnbatchGrad: the
// gradients of these rows become that of the batch again. The batches are those of batch.cpp.
#include <algorithm>
#include <map>

#include "devices/resource/batches.hpp"
#include "devices/resource/monitor.hpp"
#include "devices/resource/tick_thread.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/queue/internal/batcher.hpp"

namespace troupe::queue_unbatch {
namespace {

using Ids = std::vector<std::int64_t>;

/// An index [requests, 3], checked; ranges lie within `rows`.
struct Index {
  Ids ids, begins, counts;
};
Result<Index> read_index(const Tensor& index, std::int64_t rows) {
  if (index.shape().rank() != 2 || index.shape()[1] != 3)
    return invalid_argument(
        str_cat("Wrong shape for index tensor. Expected [requests, 3]; Got: ", index.shape(), "."));
  if (index.shape()[0] > rows)
    return invalid_argument(
        str_cat("Wrong shape for index tensor. Expected 0th dimension size to be no greater than ",
                rows, "; Got: ", index.shape()[0], "."));
  Index out;
  const auto all = index.data<std::int64_t>();
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 2 < all.size(); i += 3) {
    if (all[i + 1] != at || all[i + 2] < at || all[i + 2] > rows)
      return invalid_argument(str_cat("Row ", i / 3, " of the index tensor names rows [",
                                      all[i + 1], ", ", all[i + 2], ") of a batch of ", rows,
                                      "; rows of the batch come one after the other"));
    out.ids.push_back(all[i]);
    out.begins.push_back(all[i + 1]);
    out.counts.push_back(all[i + 2] - all[i + 1]);
    at = all[i + 2];
  }
  return out;
}

Result<std::int64_t> read_id(const Tensor& id) {
  if (!id.shape().is_scalar())
    return invalid_argument(str_cat("id must be a scalar, but has shape ", id.shape()));
  return id.value<std::int64_t>();
}

/// Rows wait for those who want them, and those for their rows; neither for longer than the
/// timeout.
class Unbatcher final : public Resource, public std::enable_shared_from_this<Unbatcher> {
public:
  explicit Unbatcher(std::chrono::microseconds timeout) : timeout_(timeout) {}
  /// Once, before others have it.
  void begin() { ticks_ = TickThread::of(shared_from_this()); }

  std::uint64_t ticket() {
    std::scoped_lock guard(lock_);
    return ++last_ticket_;
  }
  /// Gives rows to whoever wants them, now or later, and answers with those of `id`.
  void exchange(std::uint64_t ticket, std::int64_t id, const Ids& ids, Tensors rows, Arrived done) {
    std::vector<Answer> answers;
    {
      std::scoped_lock guard(lock_);
      const TickThread::Time until = std::chrono::steady_clock::now() + timeout_;
      if (!waiting_.try_emplace(id, Waiting{ticket, until, done}).second)
        answers.push_back(
            {done, Status(Code::already_exists, "Multiple session runs with the same batch key.")});
      for (std::size_t i = 0; i < ids.size(); ++i)
        stored_.insert_or_assign(ids[i], Stored{until, std::move(rows[i])});
      for (auto it = waiting_.begin(); it != waiting_.end();) {
        const auto found = stored_.find(it->first);
        if (found == stored_.end()) {
          ++it;
          continue;
        }
        answers.push_back({std::move(it->second.done), Tensors{std::move(found->second.rows)}});
        stored_.erase(found);
        it = waiting_.erase(it);
      }
      ticks_->wake();
    }
    tell(answers);
  }
  void withdraw(std::uint64_t ticket) {
    std::scoped_lock guard(lock_);
    std::erase_if(waiting_, [&](const auto& one) { return one.second.ticket == ticket; });
  }
  std::string description() const override { return "rows of batches that wait for their steps"; }

  TickThread::Time tick(TickThread::Time now) {
    std::vector<Answer> answers;
    TickThread::Time next = TickThread::never;
    {
      std::scoped_lock guard(lock_);
      std::erase_if(stored_, [&](const auto& one) { return one.second.until <= now; });
      std::erase_if(waiting_, [&](auto& one) {
        if (one.second.until > now)
          return false;
        answers.push_back({std::move(one.second.done),
                           Status(Code::deadline_exceeded,
                                  str_cat("Batched data did not arrive within timeout window of ",
                                          timeout_.count(), " us (timeout_micros)."))});
        return true;
      });
      for (const auto& [id, one] : stored_)
        next = std::min(next, one.until);
      for (const auto& [id, one] : waiting_)
        next = std::min(next, one.until);
    }
    tell(answers);
    return next;
  }

private:
  struct Waiting {
    std::uint64_t ticket;
    TickThread::Time until;
    Arrived done;
  };
  struct Stored {
    TickThread::Time until;
    Tensor rows;
  };
  struct Answer {
    Arrived done;
    Result<Tensors> result;
  };

  static void tell(std::vector<Answer>& answers) {
    for (Answer& one : answers)
      one.done(std::move(one.result));
  }

  const std::chrono::microseconds timeout_;
  std::unique_ptr<TickThread> ticks_;
  std::mutex lock_; // guards what follows
  std::map<std::int64_t, Waiting> waiting_;
  std::map<std::int64_t, Stored> stored_;
  std::uint64_t last_ticket_ = 0;
};

struct UnbatchNode {
  NodeResource resource;
  std::chrono::microseconds timeout{0};
};

Result<std::shared_ptr<const void>> prepare_unbatch(PrepareContext& c) {
  UnbatchNode out;
  TROUPE_ASSIGN(out.resource, named_resource(c));
  const auto micros = c.attrs().get_or<std::int64_t>("timeout_micros", 0);
  if (micros < 0)
    return invalid_argument(str_cat("timeout_micros must be non-negative; was ", micros));
  constexpr std::chrono::hours longest(24 * 365);
  out.timeout = std::min<std::chrono::microseconds>(std::chrono::microseconds(micros), longest);
  return prepared(std::move(out));
}

/// The node's resource, made by `make()` for whoever comes first.
template <class T, class Make>
Result<std::shared_ptr<T>> resource(KernelContext& c, Make make) {
  const auto& [container, name] = c.prepared<UnbatchNode>().resource.name;
  return c.resources().lookup_or_create<T>(container, name,
                                           [&]() -> Result<std::shared_ptr<T>> { return make(); });
}

Status begin_unbatch(KernelContext& c, const KernelDone& done) {
  const Tensor& batch = c.input(0);
  if (batch.shape().is_scalar())
    return invalid_argument("batched_tensor must have at least one dimension");
  TROUPE_ASSIGN(const Index index, read_index(c.input(1), batch.shape()[0]));
  TROUPE_ASSIGN(const std::int64_t id, read_id(c.input(2)));
  Tensors rows;
  for (std::size_t i = 0; i < index.ids.size(); ++i) {
    TROUPE_ASSIGN(Tensor one, rows_of(batch, index.begins[i], index.counts[i],
                                      c.device().host_side_allocator()));
    rows.push_back(std::move(one));
  }
  TROUPE_ASSIGN(auto unbatcher, resource<Unbatcher>(c, [&] {
                  auto made = std::make_shared<Unbatcher>(c.prepared<UnbatchNode>().timeout);
                  made->begin();
                  return made;
                }));
  wait_on(c, done, unbatcher, [&](std::uint64_t ticket, Arrived arrived) {
    unbatcher->exchange(ticket, id, index.ids, std::move(rows), std::move(arrived));
  });
  return {};
}

/// Gradients of rows, until the step that had the batch has all of them.
class GradGatherer final : public Monitor {
public:
  explicit GradGatherer(Allocator& memory) : memory_(memory) {}

  /// INVALID_ARGUMENT for a second one of an id.
  Status put(std::int64_t id, Tensor grad) {
    return locked([&]() -> Status {
      if (!grads_.try_emplace(id, std::move(grad)).second)
        return invalid_argument("Two runs with the same batch key.");
      return {};
    });
  }
  /// Answers with the gradients of these ids below each other, once they are there.
  void take(Ticket ticket, const Ids& ids, Done done) {
    submit(
        ticket, no_lane,
        [this, ids]() -> std::optional<Result<Tensors>> {
          Tensors all;
          std::vector<Rows> parts;
          for (std::int64_t id : ids) {
            const auto found = grads_.find(id);
            if (found == grads_.end())
              return std::nullopt;
            all.push_back(found->second);
          }
          for (std::int64_t id : ids)
            grads_.erase(id);
          for (const Tensor& grad : all)
            parts.push_back({&grad, 0, grad.shape()[0]});
          auto joined = join_rows(parts, memory_);
          if (!joined.ok())
            return joined.status();
          return Tensors{*std::move(joined)};
        },
        std::move(done));
  }
  /// Nobody will take them.
  void forget(const Ids& ids) {
    locked([&] {
      for (std::int64_t id : ids)
        grads_.erase(id);
    });
  }
  std::string description() const override { return "gradients of rows of batches"; }

private:
  Allocator& memory_;
  std::map<std::int64_t, Tensor> grads_;
};

Status begin_grad(KernelContext& c, const KernelDone& done) {
  const Tensor &original = c.input(0), &grad = c.input(2);
  if (original.shape().is_scalar() || grad.shape().is_scalar())
    return invalid_argument("original_input and grad must have at least one dimension");
  TROUPE_ASSIGN(const Index index, read_index(c.input(1), original.shape()[0]));
  TROUPE_ASSIGN(const std::int64_t id, read_id(c.input(3)));
  Allocator& memory = c.device().host_side_allocator();
  TROUPE_ASSIGN(auto gatherer,
                resource<GradGatherer>(c, [&] { return std::make_shared<GradGatherer>(memory); }));
  const bool has_batch = original.num_elements() > 0;
  if (has_batch && index.ids.empty())
    return invalid_argument("batch_index is empty while the tensor isn't.");
  TROUPE_TRY(gatherer->put(id, grad));
  if (!has_batch) {
    TROUPE_ASSIGN(Tensor none, batching::without_rows(grad, memory));
    TROUPE_TRY(c.set_output(0, std::move(none)));
    done({});
    return {};
  }
  const auto ticket = gatherer->ticket();
  wait_for(
      c, done, [&](Arrived arrived) { gatherer->take(ticket, index.ids, std::move(arrived)); },
      [gatherer, ticket, ids = index.ids] {
        gatherer->withdraw(ticket);
        gatherer->forget(ids);
      });
  return {};
}

template <Status (*begin)(KernelContext&, const KernelDone&)>
void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

/// As input `i`, with any number of rows.
template <int i>
Status infer_rows(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(i, 1));
  if (!c.input(i).has_rank())
    return c.set_output(0, PartialShape());
  std::vector<std::int64_t> dims = c.input(i).dims();
  dims[0] = -1;
  return c.set_output(0, PartialShape(std::move(dims)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Unbatch")
      .input("batched_tensor: T; batch_index: int64; id: int64")
      .output("unbatched_tensor: T")
      .attr("timeout_micros: int; container: string = ''; shared_name: string = ''; T: type")
      .roles({Role::random, Role::blocks})
      .shape_fn(infer_rows<0>)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel_async(compute<begin_unbatch>, {.prepare = prepare_unbatch})
      .doc("Gives each step of a batch its rows of what was computed of it.");
  library.op("UnbatchGrad")
      .input("original_input: T; batch_index: int64; grad: T; id: int64")
      .output("batched_grad: T")
      .attr("container: string = ''; shared_name: string = ''; T: type")
      .roles({Role::random, Role::blocks})
      .shape_fn(infer_rows<2>)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel_async(compute<begin_grad>, {.prepare = prepare_unbatch})
      .doc("The gradient of Unbatch: those of all steps, for the one that had the batch.");
}

} // namespace troupe::queue_unbatch
