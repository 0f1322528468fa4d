#include "kernels/math/elementwise_program.hpp"

#include <algorithm>
#include <array>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/math/elementwise.hpp"

namespace troupe::math {
namespace {

using arith::BinaryOp;
using arith::GradOp;
using arith::UnaryOp;

constexpr std::size_t scratch_bytes = 96 << 10; // for one thread's registers

using Computation = ElementwiseProgram::Computation;

// What each op of elementwise_ops computes, in its order.
#define TROUPE_COMPUTES_unary(function)                                                            \
  { .unary = UnaryOp::function }
#define TROUPE_COMPUTES_broadcast(function)                                                        \
  { .binary = BinaryOp::function }
#define TROUPE_COMPUTES_bias(function)                                                             \
  { .binary = BinaryOp::function }
#define TROUPE_COMPUTES_same_shape(function)                                                       \
  { .binary = BinaryOp::function }
#define TROUPE_COMPUTES_gradient_first(function)                                                   \
  { .gradient = GradOp::function }
#define TROUPE_COMPUTES_gradient_last(function)                                                    \
  { .gradient = GradOp::function }
constexpr Computation computations[] = {
#define TROUPE_FUSIBLE(op, form, function) TROUPE_COMPUTES_##form(function),
#include "graph/op/elementwise.def"
};

/// Nanoseconds for one element, about, of values in the nearest cache.
double cost_of(const ElementwiseProgram::Instruction& instruction) {
  const Computation& computation = instruction.computation;
  const arith::Cost cost =
      instruction.op->form == ElementwiseForm::unary ? arith::cost_of(computation.unary)
      : is_gradient(instruction.op->form)            ? arith::cost_of(computation.gradient)
                                                     : arith::cost_of(computation.binary);
  return cost == arith::Cost::costly ? 1 : cost == arith::Cost::moderate ? 0.3 : 0.06;
}

/// The shape of an instruction's result, or its op's complaint.
Result<Shape> result_shape(const ElementwiseProgram::Instruction& instruction,
                           std::span<const Shape* const> operands) {
  const Shape& first = *operands[0];
  switch (instruction.op->form) {
  case ElementwiseForm::unary:
    return first;
  case ElementwiseForm::broadcast:
    return first == *operands[1] ? Result<Shape>(first) : broadcast_shapes(first, *operands[1]);
  case ElementwiseForm::bias:
    if (first.rank() < 2)
      return invalid_argument(str_cat("Input tensor must be at least 2D: ", first));
    if (operands[1]->rank() != 1)
      return invalid_argument(str_cat("Biases must be 1D: ", *operands[1]));
    if (operands[1]->dim(0) != first[first.rank() - 1])
      return invalid_argument(str_cat(
          "Must provide as many biases as the last dimension of the input tensor: ", *operands[1],
          " vs. ", first));
    return first;
  case ElementwiseForm::gradient_first:
  case ElementwiseForm::gradient_last:
    if (first.num_elements() != operands[1]->num_elements())
      return invalid_argument(
          str_cat("The two arguments to a cwise op must have same number of elements, got ",
                  first.num_elements(), " and ", operands[1]->num_elements()));
    return first;
  case ElementwiseForm::same_shape:
    for (const Shape* other : operands.subspan(1))
      if (*other != first)
        return invalid_argument(str_cat("Inputs to operation ", instruction.op->name,
                                        " must have the same size and shape.  Input 0: ", first,
                                        " != ", *other));
    return first;
  }
  return first;
}

} // namespace

/// One instruction, ready to run.
struct ElementwiseProgram::Ready {
  arith::UnaryKernel unary = {};
  arith::GradKernel grad = {};
  arith::BinaryKernel binary = {};
  const arith::BroadcastPlan* plan = nullptr; ///< null: operands of one shape
  bool gradient_first = true;

  /// UNIMPLEMENTED for an op that elements of the dtype do not have.
  static Result<Ready> make(const Instruction& instruction, DType dtype) {
    Ready ready;
    if (instruction.op->form == ElementwiseForm::unary) {
      TROUPE_ASSIGN(ready.unary, arith::unary(instruction.computation.unary, dtype));
    } else if (is_gradient(instruction.op->form)) {
      TROUPE_ASSIGN(ready.grad, arith::unary_grad(instruction.computation.gradient, dtype));
      ready.gradient_first = instruction.op->form == ElementwiseForm::gradient_first;
    } else {
      TROUPE_ASSIGN(ready.binary, arith::binary(instruction.computation.binary, dtype));
    }
    return ready;
  }

  /// Results [begin, end); `operands` and `result` are where element 0 would be.
  void run(std::span<const void* const> operands, void* result, std::int64_t begin,
           std::int64_t end) const {
    if (unary)
      return unary(operands[0], result, begin, end);
    if (grad)
      return gradient_first ? grad(operands[0], operands[1], result, begin, end)
                            : grad(operands[1], operands[0], result, begin, end);
    if (plan) {
      binary(*plan, operands[0], operands[1], result, begin, end);
      return;
    }
    const std::int64_t size = binary.in_size, n = end - begin;
    const auto at = [&](const void* base) {
      return static_cast<const std::byte*>(base) + begin * size;
    };
    auto* to = static_cast<std::byte*>(result) + begin * size;
    if (operands.size() == 1) {
      if (operands[0] != result)
        std::copy_n(at(operands[0]), n * size, to);
      return;
    }
    binary.row(at(operands[0]), at(operands[1]), to, n, arith::RowMode::both_rows);
    for (std::size_t i = 2; i < operands.size(); ++i)
      binary.row(to, at(operands[i]), to, n, arith::RowMode::both_rows);
  }
};

/// Runs instructions over a range of the output, a block at a time, with their results in registers
/// of that size.
class ElementwiseProgram::Blocks {
public:
  /// `data`: where each operand's element 0 is; results of `blocked` instructions get theirs here.
  Blocks(const ElementwiseProgram& program, std::span<const Ready> ready,
         std::span<const void* const> data, std::span<const std::size_t> blocked,
         std::int64_t element_size, std::byte* output)
      : program_(program), ready_(ready), data_(data), blocked_(blocked), size_(element_size),
        output_(output),
        step_(std::clamp<std::int64_t>(static_cast<std::int64_t>(scratch_bytes) / element_size /
                                           std::max(program.num_registers_, 1) / 64 * 64,
                                       64, 4096)) {}

  void run(std::int64_t begin, std::int64_t end) const {
    alignas(64) std::array<std::byte, scratch_bytes> scratch;
    std::array<const void*, max_inputs + max_instructions> where, operands;
    std::ranges::copy(data_, where.begin());
    const std::size_t inputs = static_cast<std::size_t>(program_.num_inputs_);
    for (std::int64_t at = begin; at < end; at += step_) {
      const std::int64_t stop = std::min(end, at + step_);
      for (std::size_t i : blocked_) {
        const auto& of = program_.instructions_[i].operands;
        for (std::size_t k = 0; k < of.size(); ++k)
          operands[k] = where[static_cast<std::size_t>(of[k])];
        // Addresses are those of element 0, as if the register held all elements.
        std::byte* to = i + 1 == program_.instructions_.size()
                            ? output_
                            : scratch.data() + (program_.registers_[i] * step_ - at) * size_;
        ready_[i].run({operands.data(), of.size()}, to, at, stop);
        where[inputs + i] = to;
      }
    }
  }

private:
  const ElementwiseProgram& program_;
  std::span<const Ready> ready_;
  std::span<const void* const> data_;
  std::span<const std::size_t> blocked_;
  std::int64_t size_;
  std::byte* output_;
  std::int64_t step_;
};

const Computation& ElementwiseProgram::computation_of(const ElementwiseOp& op) {
  return computations[&op - elementwise_ops];
}

Result<ElementwiseProgram> ElementwiseProgram::parse(int num_inputs,
                                                     std::span<const std::string> lines) {
  ElementwiseProgram out;
  out.num_inputs_ = num_inputs;
  for (const std::string& line : lines) {
    const auto words = str_split(line, ' ');
    Instruction instruction{.op = find_elementwise_op(words[0])};
    const int known = num_inputs + static_cast<int>(out.instructions_.size());
    bool fine = instruction.op != nullptr;
    for (std::size_t i = 1; fine && i < words.size(); ++i) {
      const auto operand = parse_int(words[i]);
      fine = operand && *operand >= 0 && *operand < known;
      if (fine)
        instruction.operands.push_back(static_cast<int>(*operand));
    }
    const std::size_t count = instruction.operands.size();
    if (fine)
      fine = instruction.op->form == ElementwiseForm::unary ? count == 1
             : instruction.op->form == ElementwiseForm::same_shape
                 ? count >= 1 && count <= max_inputs
                 : count == 2;
    if (!fine)
      return invalid_argument(str_cat("'", line, "' is no instruction over ", known, " operands"));
    instruction.computation = computation_of(*instruction.op);
    out.unit_cost_ += cost_of(instruction);
    out.has_bias_ |= instruction.op->form == ElementwiseForm::bias;
    out.instructions_.push_back(std::move(instruction));
  }
  if (out.instructions_.empty())
    return invalid_argument("a program of no instructions has no result");
  if (out.instructions_.size() > max_instructions ||
      static_cast<std::size_t>(num_inputs) > max_inputs)
    return invalid_argument(str_cat(
        "a program of ", out.instructions_.size(), " instructions over ", num_inputs,
        " inputs is too long: at most ", max_instructions, " and ", max_inputs, " are possible"));
  out.assign_registers();
  return out;
}

// A register is free again after the last instruction that reads it, for that instruction's own
// result already: element i of a result is written after element i of the operands was read.
void ElementwiseProgram::assign_registers() {
  const std::size_t count = instructions_.size();
  std::vector<std::size_t> last(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (int operand : instructions_[i].operands)
      if (operand >= num_inputs_)
        last[static_cast<std::size_t>(operand - num_inputs_)] = i;
  std::vector<int> free;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<int> operands = instructions_[i].operands;
    const bool several = operands.size() > 2; // reads operands after its first result is written
    std::ranges::sort(operands);
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    const auto release = [&] {
      for (int operand : operands)
        if (operand >= num_inputs_ && last[static_cast<std::size_t>(operand - num_inputs_)] == i)
          free.push_back(registers_[static_cast<std::size_t>(operand - num_inputs_)]);
    };
    if (!several)
      release();
    if (free.empty())
      free.push_back(num_registers_++);
    registers_.push_back(free.back());
    free.pop_back();
    if (several)
      release();
  }
}

// The last instruction writes element i of the result once it has read element i of its first two
// operands; of further ones it reads a block after it has written that.
bool ElementwiseProgram::may_overwrite(int input) const {
  const auto& last = instructions_.back().operands;
  const auto read_late = std::span(last).subspan(std::min<std::size_t>(last.size(), 2));
  return std::ranges::find(read_late, input) == read_late.end();
}

int ElementwiseProgram::forwardable(const KernelContext& c, std::int64_t elements) const {
  for (int i = 0; i < num_inputs_; ++i)
    if (c.input(i).num_elements() == elements && c.input(i).is_unique() && may_overwrite(i))
      return i;
  return -1;
}

// All inputs have one shape, so all results have it.
Status ElementwiseProgram::run_uniform(KernelContext& c) const {
  const std::size_t inputs = static_cast<std::size_t>(num_inputs_), count = instructions_.size();
  const Shape shape = c.input(0).shape();
  const DType dtype = c.input(0).dtype();
  std::array<Ready, max_instructions> ready;
  std::array<std::size_t, max_instructions> blocked;
  std::array<const void*, max_inputs + max_instructions> data;
  for (std::size_t i = 0; i < inputs; ++i)
    data[i] = c.input(static_cast<int>(i)).raw();
  for (std::size_t i = 0; i < count; ++i) {
    TROUPE_ASSIGN(ready[i], Ready::make(instructions_[i], dtype));
    blocked[i] = i;
  }
  const int forwarded = forwardable(c, shape.num_elements());
  TROUPE_ASSIGN(Tensor out, forwarded >= 0 ? c.forward_or_allocate(forwarded, 0, shape)
                                           : c.allocate_output(0, shape));
  const Blocks blocks(*this, ready, {data.data(), inputs}, {blocked.data(), count},
                      static_cast<std::int64_t>(dtype_size(dtype)),
                      static_cast<std::byte*>(out.mutable_raw()));
  c.parallel_for(shape.num_elements(), cost(),
                 [&](std::int64_t begin, std::int64_t end) { blocks.run(begin, end); });
  return {};
}

ElementwiseProgram::Bound::Bound(const ElementwiseProgram& program, DType dtype)
    : program_(program), dtype_(dtype), pieces_(memory_.data(), memory_.size()), shapes_(&pieces_),
      data_(&pieces_), ready_(&pieces_), plans_(&pieces_), blocked_(&pieces_), small_(&pieces_) {
  const std::size_t instructions = program.instructions_.size();
  const std::size_t operands = static_cast<std::size_t>(program.num_inputs_) + instructions;
  shapes_.reserve(operands);
  data_.reserve(operands);
  ready_.reserve(instructions);
  plans_.reserve(instructions);
  blocked_.reserve(instructions);
}

ElementwiseProgram::Bound::~Bound() = default;

void ElementwiseProgram::Bound::add_input(const Shape& shape, const void* data) {
  shapes_.push_back(shape);
  data_.push_back(data);
}

Result<Shape> ElementwiseProgram::Bound::infer_shape() {
  for (const Instruction& instruction : program_.instructions_) {
    std::array<const Shape*, max_inputs> of;
    std::size_t count = 0;
    for (int operand : instruction.operands)
      of[count++] = &shapes_[static_cast<std::size_t>(operand)];
    TROUPE_ASSIGN(Shape shape, result_shape(instruction, {of.data(), count}));
    shapes_.push_back(std::move(shape));
  }
  return shapes_.back();
}

Status ElementwiseProgram::Bound::prepare(KernelContext& c) {
  const auto& instructions = program_.instructions_;
  const std::size_t inputs = data_.size(), count = instructions.size();
  data_.resize(shapes_.size());
  for (const Instruction& instruction : instructions) {
    TROUPE_ASSIGN(ready_.emplace_back(), Ready::make(instruction, dtype_));
    Ready& ready = ready_.back();
    if (!ready.binary || instruction.operands.size() != 2)
      continue;
    const Shape& left = shapes_[static_cast<std::size_t>(instruction.operands[0])];
    const Shape& right = shapes_[static_cast<std::size_t>(instruction.operands[1])];
    if (left != right) {
      TROUPE_ASSIGN(plans_.emplace_back(), broadcast_plan({&left, &right}));
      ready.plan = &plans_.back();
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& mine = shapes_[inputs + i];
    if (i + 1 == count || mine.num_elements() == shapes_.back().num_elements()) {
      blocked_.push_back(i);
      continue;
    }
    TROUPE_ASSIGN(Tensor whole, c.allocate_temp(dtype_, mine));
    const auto& of = instructions[i].operands;
    std::array<const void*, max_inputs> operands;
    for (std::size_t k = 0; k < of.size(); ++k)
      operands[k] = data_[static_cast<std::size_t>(of[k])];
    c.parallel_for(mine.num_elements(), program_.unit_cost_,
                   [&](std::int64_t begin, std::int64_t end) {
                     ready_[i].run({operands.data(), of.size()}, whole.mutable_raw(), begin, end);
                   });
    data_[inputs + i] = whole.raw();
    small_.push_back(std::move(whole));
  }
  return {};
}

void ElementwiseProgram::Bound::run(void* output, std::int64_t begin, std::int64_t end) const {
  Blocks(program_, ready_, data_, blocked_, static_cast<std::int64_t>(dtype_size(dtype_)),
         static_cast<std::byte*>(output))
      .run(begin, end);
}

Status ElementwiseProgram::run(KernelContext& c) const {
  bool uniform = !has_bias_;
  for (int i = 1; uniform && i < num_inputs_; ++i)
    uniform = c.input(i).shape() == c.input(0).shape();
  if (uniform)
    return run_uniform(c);
  Bound bound(*this, c.input(0).dtype());
  for (int i = 0; i < num_inputs_; ++i)
    bound.add_input(c.input(i).shape(), c.input(i).raw());
  TROUPE_ASSIGN(const Shape shape, bound.infer_shape());
  TROUPE_TRY(bound.prepare(c));
  const int forwarded = forwardable(c, shape.num_elements());
  TROUPE_ASSIGN(Tensor out, forwarded >= 0 ? c.forward_or_allocate(forwarded, 0, shape)
                                           : c.allocate_output(0, shape));
  void* to = out.mutable_raw();
  c.parallel_for(shape.num_elements(), cost(),
                 [&](std::int64_t begin, std::int64_t end) { bound.run(to, begin, end); });
  return {};
}

Result<PartialShape> ElementwiseProgram::infer_shape(std::vector<PartialShape> shapes) const {
  for (const Instruction& instruction : instructions_) {
    PartialShape shape = shapes[static_cast<std::size_t>(instruction.operands[0])];
    for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
      const PartialShape& other = shapes[static_cast<std::size_t>(instruction.operands[k])];
      if (instruction.op->form == ElementwiseForm::broadcast) {
        TROUPE_ASSIGN(shape, broadcast_partial(shape, other));
      } else if (instruction.op->form == ElementwiseForm::same_shape) {
        TROUPE_ASSIGN(shape, shape_rules::merge_shapes(shape, other));
      }
    }
    shapes.push_back(std::move(shape));
  }
  return std::move(shapes.back());
}

} // namespace troupe::math
