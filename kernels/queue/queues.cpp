// FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue, PriorityQueue: each finds its queue, or makes
// it, and gives the handle.
#include <functional>

#include "core/base/strings.hpp"
#include "devices/resource/queue.hpp"
#include "kernels/arith/philox.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::queue_queues {
namespace {

struct Kept {
  NodeResource resource;
  QueueSpec spec;
};

Status check_shapes(const QueueSpec& spec) {
  const bool partial = spec.order == QueueSpec::Order::padding_fifo;
  if (!spec.shapes.empty() && spec.shapes.size() != spec.types.size())
    return invalid_argument(str_cat("Different number of component types. ", "Types: ",
                                    spec.types.size(), ", Shapes: ", spec.shapes.size()));
  for (const PartialShape& shape : spec.shapes)
    if (partial ? !shape.has_rank() : !shape.is_fully_defined())
      return invalid_argument(
          str_cat("a ", spec.op, " cannot have components of shape ", shape,
                  partial ? ": its rank must be known" : ": it must be fully known"));
  return {};
}

// The words of the generator that TensorFlow's kernel draws from, one after the other.
std::function<std::uint32_t()> words_from(std::int64_t seed, std::int64_t seed2) {
  return [generator = arith::Philox::from_seeds(static_cast<std::uint64_t>(seed),
                                                static_cast<std::uint64_t>(seed2)),
          block = arith::Philox::Block{}, used = std::size_t{4}]() mutable {
    if (used == block.size()) {
      block = generator.next();
      used = 0;
    }
    return block[used++];
  };
}

template <QueueSpec::Order order>
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  constexpr std::string_view names[] = {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue",
                                        "PriorityQueue"};
  QueueSpec spec;
  spec.order = order;
  spec.op = names[static_cast<int>(order)];
  TROUPE_ASSIGN(auto types, c.attr<std::vector<DType>>("component_types"));
  TROUPE_ASSIGN(auto shapes, c.attr<std::vector<PartialShape>>("shapes"));
  TROUPE_ASSIGN(const auto capacity, c.attr<std::int64_t>("capacity"));
  if (order == QueueSpec::Order::priority) {
    spec.types = {DType::int64};
    spec.shapes = {PartialShape(Shape{})};
    if (types.size() != shapes.size())
      return invalid_argument(str_cat("Different number of component types. Types: ", types.size(),
                                      ", Shapes: ", shapes.size()));
  }
  spec.types.insert(spec.types.end(), types.begin(), types.end());
  spec.shapes.insert(spec.shapes.end(), shapes.begin(), shapes.end());
  spec.capacity = capacity < 0 ? -1 : capacity;
  spec.min_after_dequeue = c.attrs().get_or("min_after_dequeue", std::int64_t{0});
  spec.seed = c.attrs().get_or("seed", std::int64_t{0});
  spec.seed2 = c.attrs().get_or("seed2", std::int64_t{0});
  if (spec.seed != 0 || spec.seed2 != 0)
    spec.draw = words_from(spec.seed, spec.seed2);
  TROUPE_TRY(check_shapes(spec));
  if (spec.min_after_dequeue < 0)
    return invalid_argument(str_cat("min_after_dequeue ", spec.min_after_dequeue, " must be >= 0"));
  if (spec.capacity >= 0 && spec.min_after_dequeue > 0 && spec.min_after_dequeue >= spec.capacity)
    return invalid_argument(str_cat("min_after_dequeue ", spec.min_after_dequeue,
                                    " must be < capacity ", spec.capacity));
  TROUPE_ASSIGN(NodeResource resource, private_resource(c));
  return prepared(Kept{std::move(resource), std::move(spec)});
}

Status compute(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  bool made = false;
  TROUPE_ASSIGN(auto queue, node_resource<Queue>(c, kept.resource, [&](const std::string& name) {
                  made = true;
                  return Result<std::shared_ptr<Queue>>(
                      std::make_shared<Queue>(kept.spec, name, c.device().host_side_allocator()));
                }));
  return made ? Status{} : queue->check_same(kept.spec, c.node().schema->name);
}

struct Kind {
  std::string_view name, attrs, doc;
  PrepareFn prepare;
};

constexpr auto usual = "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []";
constexpr Kind kinds[] = {
    {"FIFOQueue", usual, "A queue whose elements leave in the order in which they came.",
     prepare<QueueSpec::Order::fifo>},
    {"PaddingFIFOQueue", usual,
     "A FIFOQueue whose batches are padded with zeros where dimensions of `shapes` are unknown.",
     prepare<QueueSpec::Order::padding_fifo>},
    {"RandomShuffleQueue",
     "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; min_after_dequeue: int = 0; "
     "seed: int = 0; seed2: int = 0",
     "A queue whose elements leave in random order.", prepare<QueueSpec::Order::random>},
    {"PriorityQueue", "component_types: list(type) >= 0 = []; shapes: list(shape) >= 0",
     "A queue whose elements leave by their first component, an int64, the smallest first.",
     prepare<QueueSpec::Order::priority>},
};

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto more = "capacity: int = -1; container: string = ''; shared_name: string = ''";
  for (const Kind& kind : kinds) {
    for (const bool v2 : {false, true})
      library.op(str_cat(kind.name, v2 ? "V2" : ""))
          .output(v2 ? "handle: resource" : "handle: Ref(string)")
          .attr(kind.attrs)
          .attr(more)
          .stateful()
          .shape_fn(shape_of_handle)
          .not_differentiable("it has no inputs")
          .cpu_kernel(compute, {.prepare = kind.prepare})
          .doc(kind.doc);
  }
}

} // namespace troupe::queue_queues
