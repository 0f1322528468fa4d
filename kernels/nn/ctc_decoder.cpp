// CTCGreedyDecoder: the best class at each time. CTCBeamSearchDecoder: the most probable sequences
// among those that a beam keeps. Both leave blanks out; the beam's is the last class.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/ctc.hpp"

namespace troupe::nn_ctc_decoder {
namespace {

using Path = std::vector<std::int32_t>;

struct Attrs {
  bool merge = true;
  std::int64_t blank = -1, beam_width = 1, top_paths = 1;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Attrs out;
  TROUPE_ASSIGN(out.merge, c.attr<bool>("merge_repeated"));
  out.blank = c.attrs().get_or("blank_index", out.blank);
  out.beam_width = c.attrs().get_or("beam_width", out.beam_width);
  out.top_paths = c.attrs().get_or("top_paths", out.top_paths);
  return prepared(out);
}

Status check_inputs(KernelContext& c) {
  const Shape &x = c.input(0).shape(), &lengths = c.input(1).shape();
  if (x.rank() != 3)
    return invalid_argument("inputs is not a 3-Tensor");
  if (x.num_elements() == 0)
    return invalid_argument("inputs must not be empty");
  if (lengths.rank() != 1)
    return invalid_argument("sequence_length is not a vector");
  if (x[1] != lengths[0])
    return failed_precondition(
        str_cat("len(sequence_length) != batch_size.  len(sequence_length):  ", lengths[0],
                " batch_size: ", x[1]));
  if (x[2] > INT32_MAX)
    return invalid_argument("num_classes cannot exceed max int");
  const auto values = c.input(1).data<std::int32_t>();
  for (std::size_t b = 0; b < values.size(); ++b)
    if (values[b] > x[0])
      return failed_precondition(str_cat("sequence_length(", b, ") <= ", x[0]));
  return {};
}

/// Path p of each sequence as a sparse matrix, in the p-th output of each of three lists.
Status give_paths(KernelContext& c, const std::vector<std::vector<Path>>& sequences,
                  std::int64_t count) {
  for (std::int64_t p = 0; p < count; ++p) {
    std::int64_t total = 0, longest = 0;
    for (const auto& paths : sequences) {
      const auto size = static_cast<std::int64_t>(paths[static_cast<std::size_t>(p)].size());
      total += size;
      longest = std::max(longest, size);
    }
    const int at = static_cast<int>(p), lists = static_cast<int>(count);
    TROUPE_ASSIGN(Tensor indices, c.allocate_output(at, Shape{total, 2}));
    TROUPE_ASSIGN(Tensor values, c.allocate_output(at + lists, Shape{total}));
    TROUPE_ASSIGN(Tensor shape, c.allocate_output(at + 2 * lists, Shape{2}));
    auto index = indices.mutable_data<std::int64_t>().begin();
    auto value = values.mutable_data<std::int64_t>().begin();
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const Path& path = sequences[b][static_cast<std::size_t>(p)];
      for (std::size_t t = 0; t < path.size(); ++t) {
        *index++ = static_cast<std::int64_t>(b);
        *index++ = static_cast<std::int64_t>(t);
        *value++ = path[t];
      }
    }
    shape.mutable_data<std::int64_t>()[0] = static_cast<std::int64_t>(sequences.size());
    shape.mutable_data<std::int64_t>()[1] = longest;
  }
  return {};
}

template <class T>
Status decode_greedily(KernelContext& c, std::int64_t blank, Tensor& scores) {
  const Shape& shape = c.input(0).shape();
  const std::int64_t batch = shape[1], classes = shape[2];
  const bool merge = c.prepared<Attrs>().merge;
  const T* x = c.input(0).data<T>().data();
  const auto lengths = c.input(1).data<std::int32_t>();
  const auto score = scores.mutable_data<T>();
  std::vector<std::vector<Path>> sequences(static_cast<std::size_t>(batch));
  c.parallel_for(batch, static_cast<double>(shape[0] * classes),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const auto b = static_cast<std::size_t>(i);
                     Path& path = sequences[b].emplace_back();
                     std::int64_t before = -1;
                     score[b] = 0;
                     for (std::int64_t t = 0; t < lengths[b]; ++t) {
                       const T* row = x + (t * batch + i) * classes;
                       std::int64_t best = 0;
                       for (std::int64_t k = 1; k < classes; ++k)
                         if (row[k] > row[best])
                           best = k;
                       score[b] -= row[best];
                       if (best != blank && !(merge && best == before))
                         path.push_back(static_cast<std::int32_t>(best));
                       before = best;
                     }
                   }
                 });
  return give_paths(c, sequences, 1);
}

Status compute_greedy(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  const Shape& shape = c.input(0).shape();
  const std::int64_t asked = c.prepared<Attrs>().blank, classes = shape[2];
  const std::int64_t blank = asked < 0 ? classes + asked : asked;
  if (blank < 0 || blank >= classes)
    return invalid_argument(str_cat("blank_index expected to be between ", -classes, " and ",
                                    classes - 1, " but was ", asked));
  TROUPE_ASSIGN(Tensor scores, c.allocate_output(3, Shape{shape[1], 1}));
  return dispatch(Types<float, double>{}, scores.dtype(),
                  [&]<class T>() -> Status { return decode_greedily<T>(c, blank, scores); });
}

/// A sequence of labels without its blanks, by its last label and what was before. Probabilities
/// are logarithms: of its paths that end with a blank, of those that end with the label, of all.
template <class T>
struct Node {
  struct Probability {
    T total = ctc::nothing<T>, blank = ctc::nothing<T>, label = ctc::nothing<T>;
  };

  Node* parent = nullptr;
  std::int32_t label = -1;
  std::map<std::int32_t, Node*> children = {};
  Probability before = {}, now = {};

  bool is_kept() const { return now.total != ctc::nothing<T>; }
  Path path(bool merge) const {
    Path out;
    std::int32_t after = -1;
    for (const Node* node = this; node->parent; node = node->parent) {
      if (!merge || node->label != after)
        out.push_back(node->label);
      after = node->label;
    }
    std::ranges::reverse(out);
    return out;
  }
};

template <class T>
class Beam {
public:
  explicit Beam(std::int64_t width) : width_(static_cast<std::size_t>(width)) {
    nodes_.emplace_back();
    nodes_.back().now.total = nodes_.back().now.blank = 0;
    keep(nodes_.back());
  }

  /// One more time, with the activations of all classes.
  void step(std::span<const T> x) {
    const T norm = log_norm(x);
    std::vector<Node<T>*> branches;
    for (const Place& place : kept_)
      branches.push_back(place.node);
    kept_.clear();
    for (Node<T>* node : branches)
      node->before = node->now;
    for (Node<T>* node : branches) {
      stay(*node, x, norm);
      keep(*node);
    }
    for (Node<T>* node : branches)
      if (is_candidate(node->before.total))
        for (std::size_t label = 0; label + 1 < x.size(); ++label)
          grow(*node, static_cast<std::int32_t>(label), x[label] - norm);
  }

  std::size_t size() const { return kept_.size(); }
  /// The best ones first.
  template <class Use>
  void for_each(std::size_t count, Use use) const {
    for (auto place = kept_.begin(); count > 0; ++place, --count)
      use(*place->node);
  }

private:
  /// The most probable first; of equals that which came first.
  struct Place {
    T total = 0;
    std::size_t number = 0;
    Node<T>* node = nullptr;
    bool operator<(const Place& other) const {
      return total != other.total ? total > other.total : number < other.number;
    }
  };

  static T log_norm(std::span<const T> x) {
    const T most = *std::ranges::max_element(x);
    T sum = 0;
    for (const T value : x)
      sum += std::exp(value - most);
    return most + std::log(sum);
  }

  void keep(Node<T>& node) { kept_.insert({node.now.total, number_++, &node}); }

  bool is_candidate(T total) const {
    return total > ctc::nothing<T> && (kept_.size() < width_ || total > kept_.rbegin()->total);
  }

  static void stay(Node<T>& node, std::span<const T> x, T norm) {
    if (node.parent) {
      if (node.parent->is_kept())
        node.now.label = ctc::log_sum(node.now.label, node.label == node.parent->label
                                                          ? node.parent->before.blank
                                                          : node.parent->before.total);
      node.now.label += x[static_cast<std::size_t>(node.label)] - norm;
    }
    node.now.blank = node.before.total + x.back() - norm;
    node.now.total = ctc::log_sum(node.now.blank, node.now.label);
  }

  void grow(Node<T>& node, std::int32_t label, T log_probability) {
    const auto found = node.children.find(label);
    if (found != node.children.end() && found->second->is_kept())
      return;
    const T total = log_probability + (label == node.label ? node.before.blank : node.before.total);
    if (!is_candidate(total)) { // and if it fell out in this step, it does not grow any more
      if (found != node.children.end())
        found->second->before = found->second->now = {};
      return;
    }
    Node<T>* child = found != node.children.end() ? found->second : nullptr;
    if (!child) {
      child = &nodes_.emplace_back();
      child->parent = &node;
      child->label = label;
      node.children.emplace(label, child);
    }
    child->now = {total, ctc::nothing<T>, total};
    if (kept_.size() == width_) {
      const auto last = std::prev(kept_.end());
      last->node->now = {};
      kept_.erase(last);
    }
    keep(*child);
  }

  std::size_t width_, number_ = 0;
  std::deque<Node<T>> nodes_;
  std::set<Place> kept_;
};

template <class T>
Status search(KernelContext& c, const Attrs& attrs, Tensor& scores) {
  const Shape& shape = c.input(0).shape();
  const std::int64_t batch = shape[1], classes = shape[2];
  const auto top = static_cast<std::size_t>(attrs.top_paths);
  const auto x = c.input(0).data<T>();
  const auto lengths = c.input(1).data<std::int32_t>();
  auto score = scores.mutable_data<T>().begin();
  std::vector<std::vector<Path>> sequences(static_cast<std::size_t>(batch));
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    Beam<T> beam(attrs.beam_width);
    for (std::int64_t t = 0; t < lengths[b]; ++t) {
      c.stop_if_cancelled();
      beam.step(
          x.subspan((static_cast<std::size_t>(t * batch) + b) * static_cast<std::size_t>(classes),
                    static_cast<std::size_t>(classes)));
    }
    if (top > static_cast<std::size_t>(attrs.beam_width))
      return invalid_argument("requested more paths than the beam width.");
    if (top > beam.size())
      return invalid_argument("Less leaves in the beam search than requested.");
    beam.for_each(top, [&](const Node<T>& node) {
      sequences[b].push_back(node.path(attrs.merge));
      *score++ = node.now.total;
    });
  }
  return give_paths(c, sequences, attrs.top_paths);
}

Status compute_beam(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  const auto& attrs = c.prepared<Attrs>();
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{c.input(0).shape()[1], attrs.top_paths}));
  TROUPE_ASSIGN(Tensor scores, c.allocate_output(c.num_outputs() - 1, shape));
  return dispatch(Types<float, double>{}, scores.dtype(),
                  [&]<class T>() -> Status { return search<T>(c, attrs, scores); });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto x, shape_rules::dims_of_rank(c, 0, 3));
  TROUPE_ASSIGN(const auto lengths, shape_rules::dims_of_rank(c, 1, 1));
  TROUPE_ASSIGN(const std::int64_t batch, shape_rules::merge_dims(x[1], lengths[0]));
  const int paths = (c.num_outputs() - 1) / 3;
  for (int p = 0; p < paths; ++p) {
    TROUPE_TRY(c.set_output(p, {-1, 2}));
    TROUPE_TRY(c.set_output(p + paths, {-1}));
    TROUPE_TRY(c.set_output(p + 2 * paths, {2}));
  }
  return c.set_output(3 * paths, {batch, paths});
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T", {DType::float32, DType::float64}}};
  out.prepare = prepare;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("CTCGreedyDecoder")
      .input("inputs: T; sequence_length: int32")
      .output("decoded_indices: int64; decoded_values: int64; decoded_shape: int64; "
              "log_probability: T")
      .attr("merge_repeated: bool = false; blank_index: int = -1; T: {float, double} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("labels are chosen, not computed")
      .cpu_kernel(compute_greedy, options())
      .doc("The best class at each time, without blanks; repetitions are merged if asked for.");
  library.op("CTCBeamSearchDecoder")
      .input("inputs: T; sequence_length: int32")
      .output(
          "decoded_indices: top_paths * int64; decoded_values: top_paths * int64; decoded_shape: "
          "top_paths * int64; log_probability: T")
      .attr("beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; "
            "T: {float, double} = DT_FLOAT")
      .shape_fn(infer)
      .not_differentiable("labels are chosen, not computed")
      .cpu_kernel(compute_beam, options())
      .doc("The most probable sequences of labels that a beam search finds, and the logarithms of "
           "their probabilities.");
}

} // namespace troupe::nn_ctc_decoder
