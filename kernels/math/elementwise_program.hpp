// ElementwiseProgram: several elementwise ops as one. Each instruction's result is computed block
// by block, so that what one leaves for the next stays in the nearest cache.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/op/elementwise_ops.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::math {

/// Operands are numbered: the inputs first, then the results of the instructions. The last result
/// is the output. Immutable.
class ElementwiseProgram {
public:
  /// What computes an op's elements; which member counts is said by the op's form.
  struct Computation {
    struct Gradient {
      arith::GradOp op = {};
      bool first = true; ///< the gradient is operand 0, not 1
    };
    arith::UnaryOp unary = {};
    arith::BinaryOp binary = {};
    Gradient gradient = {};
  };
  /// INTERNAL for an op that nothing here computes: the list of ops and the kernels disagree.
  static Result<Computation> computation_of(const ElementwiseOp& op);

  struct Instruction {
    const ElementwiseOp* op = nullptr;
    std::vector<int> operands = {};
    Computation computation = {};
  };

  /// Each line "Mul 0 3" is one instruction over operands of smaller numbers. INVALID_ARGUMENT
  /// naming the line that is none.
  static Result<ElementwiseProgram> parse(int num_inputs, std::span<const std::string> lines);

  int num_inputs() const { return num_inputs_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }

  /// The last result's shape from those of the inputs.
  Result<PartialShape> infer_shape(std::vector<PartialShape> inputs) const;

  /// Nanoseconds for one element of the result, about.
  double cost() const { return unit_cost_ + 0.1; }

  /// Whether the result may be written over an input of its shape.
  bool may_overwrite(int input) const;

  /// An input of a run, and where its element 0 is.
  struct Operand {
    Shape shape;
    const void* data = nullptr;
  };
  /// The shapes of the inputs and of all results. Errors are those of the single ops.
  Result<std::vector<Shape>> shapes_of(std::span<const Operand> inputs) const;

  /// The program over given inputs. Holds neither the program nor the inputs' memory.
  class Bound {
  public:
    const Shape& shape() const; ///< of the result
    /// Elements [begin, end) of the result, whose element 0 is at `output`; reads of inputs that
    /// have its shape these elements alone. Any thread.
    void run(void* output, std::int64_t begin, std::int64_t end) const;

  private:
    friend class ElementwiseProgram;
    struct State;
    explicit Bound(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
  };
  /// Computes now what is smaller than the result, so such inputs' values must be there. All
  /// inputs are of `dtype`, float or double.
  Result<Bound> bind(KernelContext& c, DType dtype, std::span<const Operand> inputs) const;

  /// Output 0 of `c` from its inputs, all float or all double, in the buffer of an input where one
  /// is free. Errors are those of the single ops.
  Status run(KernelContext& c) const;

  static constexpr std::size_t max_instructions = 64, max_inputs = 64;

private:
  struct Ready;
  class Blocks;
  void assign_registers();
  Status run_uniform(KernelContext& c) const;
  /// The input whose buffer the output of that shape may take, or -1.
  int forwardable(const KernelContext& c, std::int64_t elements) const;

  int num_inputs_ = 0;
  std::vector<Instruction> instructions_;
  bool has_bias_ = false;
  std::vector<int> registers_; ///< of each instruction's result
  int num_registers_ = 0;
  double unit_cost_ = 0; ///< nanoseconds for one element
};

} // namespace troupe::math
