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
    out.is_broadcasting_ &= instruction.op->form == ElementwiseForm::unary ||
                            instruction.op->form == ElementwiseForm::broadcast;
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

/// The instructions for one dtype, laid out for running.
struct ElementwiseProgram::Code {
  enum class Kind : std::uint8_t { unary, gradient_first, gradient_last, binary, sum };
  struct Step {
    Kind kind{};
    std::uint8_t first = 0, count = 0; ///< of its operands
    std::uint8_t reg = 0;
    Ready ready;
  };
  DType dtype = DType::invalid;
  std::int64_t size = 0; ///< bytes of an element
  std::vector<Step> steps;
  std::vector<std::uint8_t> operands; ///< of all steps
};

Result<ElementwiseProgram::Ready> ElementwiseProgram::ready(std::size_t i, DType dtype) const {
  if (code_ && code_->dtype == dtype)
    return code_->steps[i].ready;
  return Ready::make(instructions_[i], dtype);
}

Status ElementwiseProgram::bind(DType dtype) {
  using Kind = Code::Kind;
  auto code = std::make_shared<Code>();
  code->dtype = dtype;
  code->size = static_cast<std::int64_t>(dtype_size(dtype));
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& from = instructions_[i];
    Code::Step& step = code->steps.emplace_back();
    TROUPE_ASSIGN(step.ready, Ready::make(from, dtype));
    const ElementwiseForm form = from.op->form;
    step.kind = form == ElementwiseForm::unary            ? Kind::unary
                : form == ElementwiseForm::gradient_first ? Kind::gradient_first
                : form == ElementwiseForm::gradient_last  ? Kind::gradient_last
                : form == ElementwiseForm::same_shape     ? Kind::sum
                                                          : Kind::binary;
    step.first = static_cast<std::uint8_t>(code->operands.size());
    step.count = static_cast<std::uint8_t>(from.operands.size());
    step.reg = static_cast<std::uint8_t>(registers_[i]);
    for (int operand : from.operands)
      code->operands.push_back(static_cast<std::uint8_t>(operand));
    if (code->operands.size() > 255) // a long one: what it costs to prepare is not much of it
      return {};
  }
  code_ = std::move(code);
  return {};
}

/// Runs a program whose inputs have one shape, or a single element that goes with each of that
/// shape. No instruction looks at more of a shape than that. Small results are computed in one go.
class ElementwiseProgram::Flat {
public:
  Flat(const ElementwiseProgram& program, const Code& code) : program_(program), code_(code) {}

  /// Whether it can: then `whole` is the input that has the result's shape.
  bool look_at(const KernelContext& c) {
    const std::size_t inputs = num_inputs();
    const Shape* shape = &c.input(0).shape();
    bool is_uniform = true;
    for (std::size_t i = 1; i < inputs && is_uniform; ++i)
      is_uniform = c.input(static_cast<int>(i)).shape() == *shape;
    elements_ = shape->num_elements();
    if (is_uniform || !program_.is_broadcasting_)
      return is_uniform && !program_.has_bias_;
    for (std::size_t i = 0; i < inputs; ++i)
      if (c.input(static_cast<int>(i)).num_elements() > elements_) {
        whole = static_cast<int>(i);
        shape = &c.input(whole).shape();
        elements_ = shape->num_elements();
      }
    if (elements_ == 1)
      return false;
    for (std::size_t i = 0; i < inputs; ++i) {
      const Shape& mine = c.input(static_cast<int>(i)).shape();
      single_[i] = mine.num_elements() == 1;
      if (single_[i] ? mine.rank() > shape->rank() : mine != *shape)
        return false;
    }
    has_singles_ = true;
    for (std::size_t i = 0; i < code_.steps.size(); ++i) {
      const Code::Step& step = code_.steps[i];
      const std::uint8_t* of = &code_.operands[step.first];
      single_[inputs + i] = single_[of[0]] && single_[of[step.count - 1]];
    }
    return !single_[inputs + code_.steps.size() - 1];
  }

  void add_inputs(const KernelContext& c) {
    for (std::size_t i = 0; i < num_inputs(); ++i)
      data_[i] = static_cast<const std::byte*>(c.input(static_cast<int>(i)).raw());
  }

  void run(KernelContext& c, std::byte* output) {
    alignas(64) std::array<std::byte, small_bytes> scratch;
    if (has_singles_)
      compute_singles();
    if (elements_ * code_.size * program_.num_registers_ <= std::int64_t{small_bytes})
      return run_block(data_.data(), scratch.data(), output, elements_);
    c.parallel_for(elements_, program_.cost(),
                   [&](std::int64_t begin, std::int64_t end) { run_range(output, begin, end); });
  }

  int whole = 0;

private:
  static constexpr std::size_t small_bytes = 8 << 10, most = max_inputs + max_instructions;
  std::size_t num_inputs() const { return static_cast<std::size_t>(program_.num_inputs_); }
  bool is_single(std::size_t operand) const { return has_singles_ && single_[operand]; }

  void compute_singles() {
    for (std::size_t i = 0; i < code_.steps.size(); ++i)
      if (single_[num_inputs() + i]) {
        std::byte* to = values_.data() + i * sizeof(double);
        run_step(code_.steps[i], data_.data(), to, 1);
        data_[num_inputs() + i] = to;
      }
  }

  void run_range(std::byte* output, std::int64_t begin, std::int64_t end) const {
    alignas(64) std::array<std::byte, scratch_bytes> scratch;
    const std::int64_t step = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(scratch_bytes) / code_.size / program_.num_registers_ / 64 * 64,
        64, 4096);
    std::array<const std::byte*, most> where;
    for (std::size_t i = 0; i < num_inputs() + code_.steps.size(); ++i)
      where[i] = is_single(i) || i < num_inputs() ? data_[i] : nullptr;
    for (std::int64_t at = begin; at < end; at += step) {
      for (std::size_t i = 0; i < num_inputs(); ++i)
        if (!is_single(i))
          where[i] = data_[i] + at * code_.size;
      run_block(where.data(), scratch.data(), output + at * code_.size, std::min(step, end - at));
    }
  }

  /// `where` has room for what is not single.
  void run_block(const std::byte** where, std::byte* scratch, std::byte* output,
                 std::int64_t count) const {
    const std::size_t inputs = num_inputs(), steps = code_.steps.size();
    for (std::size_t i = 0; i < steps; ++i) {
      if (is_single(inputs + i))
        continue;
      const Code::Step& step = code_.steps[i];
      std::byte* to = i + 1 == steps ? output : scratch + step.reg * count * code_.size;
      run_step(step, where, to, count);
      where[inputs + i] = to;
    }
  }

  void run_step(const Code::Step& step, const std::byte* const* where, std::byte* to,
                std::int64_t count) const {
    const std::uint8_t* of = &code_.operands[step.first];
    const std::byte* first = where[of[0]];
    switch (step.kind) {
    case Code::Kind::unary:
      return step.ready.unary(first, to, 0, count);
    case Code::Kind::gradient_first:
      return step.ready.grad(first, where[of[1]], to, 0, count);
    case Code::Kind::gradient_last:
      return step.ready.grad(where[of[1]], first, to, 0, count);
    case Code::Kind::binary: {
      using arith::RowMode;
      const RowMode mode = is_single(of[0]) == is_single(of[1]) ? RowMode::both_rows
                           : is_single(of[0])                   ? RowMode::left_scalar
                                                                : RowMode::right_scalar;
      step.ready.binary.row(first, where[of[1]], to, count, mode);
      return;
    }
    case Code::Kind::sum:
      if (step.count == 1) {
        if (first != to)
          std::copy_n(first, count * code_.size, to);
        return;
      }
      step.ready.binary.row(first, where[of[1]], to, count, arith::RowMode::both_rows);
      for (std::size_t i = 2; i < step.count; ++i)
        step.ready.binary.row(to, where[of[i]], to, count, arith::RowMode::both_rows);
      return;
    }
  }

  const ElementwiseProgram& program_;
  const Code& code_;
  std::int64_t elements_ = 0;
  bool has_singles_ = false;
  std::array<bool, most> single_; ///< by operand, if there are any
  std::array<const std::byte*, most> data_;
  alignas(8) std::array<std::byte, max_instructions * sizeof(double)> values_;
};

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
    TROUPE_ASSIGN(ready_.emplace_back(), program_.ready(ready_.size(), dtype_));
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
  if (code_)
    if (Flat flat(*this, *code_); flat.look_at(c)) {
      flat.add_inputs(c);
      const Shape& shape = c.input(flat.whole).shape();
      const int forwarded = forwardable(c, shape.num_elements());
      TROUPE_TRY(forwarded >= 0 ? make_output(c, {forwarded}, shape) : make_output(c, {}, shape));
      flat.run(c, static_cast<std::byte*>(c.output_entry(0).tensor.mutable_raw()));
      return {};
    }
  return run_any(c);
}

std::size_t ElementwiseProgram::failed_at(const KernelContext& c) const {
  Bound bound(*this, c.input(0).dtype());
  for (int i = 0; i < num_inputs_; ++i)
    bound.add_input(c.input(i).shape(), c.input(i).raw());
  (void)bound.infer_shape();
  return std::min(bound.num_inferred(), instructions_.size() - 1);
}

// Not in run(), whose stack is small.
[[gnu::noinline]] Status ElementwiseProgram::run_any(KernelContext& c) const {
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
