// ElementwiseProgram: several elementwise ops as one. Each instruction's result is computed block
// by block, so that what one leaves for the next stays in the nearest cache.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "graph/op/elementwise_ops.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::math {

/// Operands are numbered: the inputs first, then the results of the instructions. The last result
/// is the output. Immutable.
class ElementwiseProgram {
public:
  /// What computes an op's elements; which member counts is said by the op's form.
  struct Computation {
    arith::UnaryOp unary = {};
    arith::BinaryOp binary = {};
    arith::GradOp gradient = {};
  };
  /// Of an op of the list.
  static const Computation& computation_of(const ElementwiseOp& op);

  struct Instruction {
    const ElementwiseOp* op = nullptr;
    std::vector<int> operands = {};
    Computation computation = {};
  };

  /// Each line "Mul 0 3" is one instruction over operands of smaller numbers. INVALID_ARGUMENT
  /// naming the line that is none.
  static Result<ElementwiseProgram> parse(int num_inputs, std::span<const std::string> lines);

  /// Looks up now what computes elements of `dtype`, so that no run has to; for prepare functions.
  /// UNIMPLEMENTED for an op that elements of the dtype do not have.
  Status bind(DType dtype);

  int num_inputs() const { return num_inputs_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }

  /// The last result's shape from those of the inputs.
  Result<PartialShape> infer_shape(std::vector<PartialShape> inputs) const;

  /// Nanoseconds for one element of the result, about.
  double cost() const { return unit_cost_ + 0.1; }

  /// Whether the result may be written over an input of its shape.
  bool may_overwrite(int input) const;

  class Bound;

  /// Output 0 of `c` from its inputs, all float or all double, in the buffer of an input where one
  /// is free. Errors are those of the single ops.
  Status run(KernelContext& c) const;

  /// The instruction that run() failed at, since its operands' shapes do not fit; the last one if
  /// all do.
  std::size_t failed_at(const KernelContext& c) const;

  static constexpr std::size_t max_instructions = 64, max_inputs = 64;

private:
  struct Ready;
  class Blocks;
  struct Code;
  class Flat;
  void assign_registers();
  Result<Ready> ready(std::size_t instruction, DType dtype) const;
  Status run_any(KernelContext& c) const;
  /// The input whose buffer the output of that shape may take, or -1.
  int forwardable(const KernelContext& c, std::int64_t elements) const;

  int num_inputs_ = 0;
  std::vector<Instruction> instructions_;
  bool has_bias_ = false;
  bool is_broadcasting_ = true;      ///< every op takes a single element for as many as it likes
  std::shared_ptr<const Code> code_; ///< null before bind()
  std::vector<int> registers_;       ///< of each instruction's result
  int num_registers_ = 0;
  double unit_cost_ = 0; ///< nanoseconds for one element
};

/// A program over given inputs. Both outlive it. In place for up to some thirty instructions.
class ElementwiseProgram::Bound {
public:
  /// All inputs are of `dtype`, float or double.
  Bound(const ElementwiseProgram& program, DType dtype);
  ~Bound();
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  /// The next input, and where its element 0 is.
  void add_input(const Shape& shape, const void* data);
  /// Of the result, when all inputs were added. Errors are those of the single ops.
  Result<Shape> infer_shape();
  /// Instructions whose result has a shape, after infer_shape.
  std::size_t num_inferred() const { return shapes_.size() - data_.size(); }
  /// Where element 0 of an input is, if that was not known.
  void set_data(int input, const void* data) { data_[static_cast<std::size_t>(input)] = data; }
  /// After infer_shape. Computes what is smaller than the result, so such inputs' values must be
  /// there.
  Status prepare(KernelContext& c);
  /// Elements [begin, end) of the result, whose element 0 is at `output`; reads of inputs that
  /// have its shape these elements alone. Any thread.
  void run(void* output, std::int64_t begin, std::int64_t end) const;

private:
  const ElementwiseProgram& program_;
  DType dtype_;
  std::array<std::byte, 16 << 10> memory_;
  std::pmr::monotonic_buffer_resource pieces_; ///< of `memory_`, and more where that is not enough
  std::pmr::vector<Shape> shapes_;             ///< of the inputs and of all results
  std::pmr::vector<const void*> data_;
  std::pmr::vector<Ready> ready_;
  std::pmr::vector<arith::BroadcastPlan> plans_; ///< `ready_` points into it
  std::pmr::vector<std::size_t> blocked_;
  std::pmr::vector<Tensor> small_; ///< results that are smaller than the last one
};

} // namespace troupe::math
