// GradContext over a Graph: what the gradient rule of one node sees and adds.
#pragma once

#include <string>
#include <vector>

#include "graph/autodiff/internal/static_shapes.hpp"
#include "graph/op/grad_context.hpp"

namespace troupe::autodiff {

/// Where the nodes of one gradient go: names below `scope`, device and colocation of the forward
/// node.
struct Site {
  std::string scope; ///< "gradients/dense_grad"
  std::string device;
  std::vector<std::string> colocation; ///< "loc:@…", empty: none
};

/// Adds a node at a site, with the attrs that its inputs determine filled in.
Result<Value> add_node(Graph& graph, StaticShapes& shapes, const Site& site, std::string_view type,
                       const std::vector<Value>& inputs, AttrMap attrs);
/// The site of gradients of `node` below `scope`.
Site site_of(const Node& node, std::string_view scope, bool colocate);

class RuleContext final : public GradContext {
public:
  /// `output_grads` has one entry for each output of `node`.
  RuleContext(Graph& graph, StaticShapes& shapes, Site site, NodeId node,
              std::vector<Value> output_grads);

  int num_inputs() const override;
  int num_outputs() const override;
  Value input(int i) const override;
  Value output(int i) const override;
  Value output_grad(int i) const override;
  const AttrMap& attrs() const override;
  DType dtype(Value v) const override;
  PartialShape shape(Value v) const override;
  Value op(std::string_view type, std::initializer_list<Value> inputs, AttrMap attrs) override;
  Value op(std::string_view type, const std::vector<Value>& inputs, AttrMap attrs) override;
  Value constant(Tensor value) override;
  Status set_input_grad(int i, Value gradient) override;

  const Node& node() const { return *graph_.node(node_); }
  /// The first failure of `op` or `set_input_grad`.
  const Status& status() const { return status_; }
  const std::vector<Value>& input_grads() const { return input_grads_; }
  /// Whether the rule computed with a complex input or output of its node and did not conjugate it:
  /// its gradient is then wrong for complex numbers.
  bool forgot_to_conjugate() const { return forgot_to_conjugate_; }

private:
  bool is_own_complex(Value v) const;

  Graph& graph_;
  StaticShapes& shapes_;
  Site site_;
  NodeId node_;
  std::vector<Value> output_grads_;
  std::vector<Value> input_grads_;
  Status status_;
  bool forgot_to_conjugate_ = false;
};

/// The gradients of Switch and Merge of a conditional, which need no rule of their op:
/// Merge sends its gradient into the branch that was taken, Switch merges those of both branches.
Status differentiate_switch(RuleContext& g);
Status differentiate_merge(RuleContext& g);

} // namespace troupe::autodiff
