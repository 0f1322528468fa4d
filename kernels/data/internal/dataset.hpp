// Dataset: what a variant of a dataset op holds; Iterator: one way through its elements.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/async.hpp"
#include "core/tensor/variant.hpp"
#include "kernels/data/internal/state.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/functions.hpp"

namespace troupe::data {

class Dataset;
class Pipeline;
class ElementPull;

using DatasetRef = std::shared_ptr<const Dataset>;
/// A tensor for each component.
using Element = Tensors;
/// An element; none at the end of the sequence, and then for ever.
using Next = Result<std::optional<Element>>;
inline Next end_of_sequence() {
  return Next(std::optional<Element>());
}
inline Next one_more(Element element) {
  return Next(std::optional<Element>(std::move(element)));
}

/// Counts of elements that are no counts, as TensorFlow writes them.
inline constexpr std::int64_t infinite = -1, unknown = -2;
/// A number of calls, places or elements that is left to us.
inline constexpr std::int64_t autotune = -1;

/// One way through a dataset's elements; it keeps the dataset. Its owner awaits each call before
/// the next one, and before the iterator's end. What it does in the background by itself ends with
/// it: its destructor cancels that, and waits for nothing.
class Iterator {
public:
  virtual ~Iterator() = default;
  virtual Async<Next> next(ElementPull& pull) = 0;
  /// What a fresh iterator of an equal dataset needs to go on where this one is.
  virtual Async<Status> save(ElementPull& pull, StateWriter to) = 0;
  /// Into a fresh iterator.
  virtual Async<Status> restore(ElementPull& pull, StateReader from) = 0;
};
using IteratorRef = std::unique_ptr<Iterator>;

/// What was asked of a whole pipeline, tf.data.Options; of several, the outermost wins.
struct PipelineOptions {
  std::optional<bool> deterministic;
};

/// How to make a dataset again: the node that has made it.
struct Recipe {
  std::string op;
  AttrMap attrs;
  Tensors inputs; ///< datasets among them
};

/// What a dataset's iterators share and its order hangs on, as the seeds of a shuffle. It is for
/// one way through the dataset, and for one place in it: TensorFlow makes a dataset again for each
/// of them.
struct SharedOrder {
  std::atomic<bool> is_taken{false};
  /// Whether this is the first way through.
  bool take() { return !is_taken.exchange(true); }
};

/// Immutable, apart from what its iterators share, such as a cache. Any thread.
class Dataset : public VariantValue, public std::enable_shared_from_this<Dataset> {
public:
  const Recipe& recipe() const { return recipe_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }
  /// Of datasets within datasets; bounded, since they call each other.
  int depth() const { return depth_; }
  const PipelineOptions& options() const { return options_; }
  /// The datasets that its elements come from.
  const std::vector<DatasetRef>& sources() const { return sources_; }

  /// How many elements it has, `infinite` or `unknown`.
  virtual std::int64_t cardinality() const = 0;
  virtual Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const = 0;
  /// Null if there is none; that of its sources is theirs.
  virtual SharedOrder* shared_order() const { return nullptr; }
  /// FAILED_PRECONDITION naming an op if what it gives depends on what no iterator's state tells.
  virtual Status check_external_state() const;

  /// Datasets do not leave their process, but for windows: elements and nothing else.
  Result<VariantParts> parts() const override;

protected:
  /// Of a node with attributes `output_types`, or `Toutput_types`, and `output_shapes`.
  explicit Dataset(const KernelContext& c);
  Dataset(const KernelContext& c, std::vector<DType> types, std::vector<PartialShape> shapes);
  /// Of no node: part of another dataset. It has no recipe.
  Dataset(std::string op, std::vector<DType> types, std::vector<PartialShape> shapes);
  /// As `options`, where those say something.
  void set_options(const PipelineOptions& options);
  template <class T>
  std::shared_ptr<const T> self() const {
    return std::static_pointer_cast<const T>(shared_from_this());
  }

private:
  void note_inputs(const KernelContext& c);

  Recipe recipe_;
  std::vector<DType> types_;
  std::vector<PartialShape> shapes_;
  std::vector<DatasetRef> sources_;
  PipelineOptions options_;
  int depth_ = 1;
};

/// Datasets within datasets at most.
inline constexpr int max_dataset_depth = 500;

/// The dataset in a variant. INVALID_ARGUMENT if there is none.
Result<DatasetRef> dataset_in(const Tensor& tensor);
Tensor tensor_of(DatasetRef dataset);

// What kernels of dataset ops need of their inputs.
Result<DatasetRef> input_dataset(const KernelContext& c, int i);
/// As the op declares it.
Result<std::string> name_of_input(const KernelContext& c, int i);
/// INVALID_ARGUMENT "NAME must be a scalar".
template <class T>
Result<T> scalar_input(const KernelContext& c, int i) {
  TROUPE_ASSIGN(const std::string name, name_of_input(c, i));
  if (!c.input(i).shape().is_scalar())
    return invalid_argument(name + " must be a scalar");
  return c.input(i).data<T>()[0];
}
/// INVALID_ARGUMENT "NAME must be a vector".
template <class T>
Result<std::vector<T>> vector_input(const KernelContext& c, int i) {
  TROUPE_ASSIGN(const std::string name, name_of_input(c, i));
  if (c.input(i).shape().rank() != 1)
    return invalid_argument(name + " must be a vector");
  const auto data = c.input(i).data<T>();
  return std::vector<T>(data.begin(), data.end());
}
/// Output 0. RESOURCE_EXHAUSTED for datasets within each other beyond max_dataset_depth.
Status give_dataset(KernelContext& c, DatasetRef dataset);

// INVALID_ARGUMENT "Number of components does not match: …", "Data type mismatch at component …",
// "Incompatible shapes at component …".
Status check_types(const std::vector<DType>& expected, const std::vector<DType>& got);
Status check_shapes(const std::vector<PartialShape>& expected,
                    const std::vector<PartialShape>& got);
Status check_element(const std::vector<DType>& types, const std::vector<PartialShape>& shapes,
                     const Element& element);
/// The components become the kernel's outputs. Errors as check_element.
Status give_element(KernelContext& c, const std::vector<DType>& types,
                    const std::vector<PartialShape>& shapes, Element element);
/// "[2,?]", "<unknown>": as TensorFlow's messages have it.
std::string text_of(const PartialShape& shape);

} // namespace troupe::data
