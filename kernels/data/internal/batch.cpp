#include "kernels/data/internal/batch.hpp"

#include <algorithm>

#include "devices/resource/batches.hpp"
#include "kernels/data/internal/pipeline.hpp"

namespace troupe::data {
namespace {

// Rows of one component; the elements lose them.
std::vector<Tensor> component(Elements& elements, std::size_t i) {
  std::vector<Tensor> out;
  out.reserve(elements.size());
  for (std::size_t k = 0; k < elements.size(); ++k)
    out.push_back(std::move(elements[k][i]));
  return out;
}

Status check_component_counts(const Elements& elements) {
  for (std::size_t i = 1; i < elements.size(); ++i)
    if (elements[i].size() != elements[0].size())
      return invalid_argument(str_cat("Number of components does not match: expected ",
                                      elements[0].size(), " types but got ", elements[i].size(),
                                      "."));
  return {};
}

bool is_zero(const Tensor& value) {
  if (is_object(value.dtype()))
    return value.dtype() == DType::string && value.data<std::string>()[0].empty();
  return std::ranges::all_of(value.bytes(), [](std::byte b) { return b == std::byte{0}; });
}

// Doubles what is filled until all is.
void fill(Tensor& out, const Tensor& value) {
  const std::int64_t total = out.num_elements();
  if (total == 0)
    return;
  copy_elements(value, 0, out, 0, 1);
  for (std::int64_t done = 1; done < total;) {
    const std::int64_t more = std::min(done, total - done);
    copy_elements(out, 0, out, done, more);
    done += more;
  }
}

// `element` into the beginning of row `row`, whose dimensions are those of `shape`.
void copy_into(const Tensor& element, Tensor& out, std::int64_t row, const Shape& shape) {
  if (element.num_elements() == 0)
    return;
  const int rank = shape.rank();
  std::vector<std::int64_t> at(static_cast<std::size_t>(std::max(rank - 1, 0)));
  const std::int64_t run = rank == 0 ? 1 : element.shape().dim(rank - 1);
  std::int64_t from = 0;
  for (;;) {
    std::int64_t to = row;
    for (int d = 0; d < rank; ++d)
      to = to * shape.dim(d) + (d < rank - 1 ? at[static_cast<std::size_t>(d)] : 0);
    copy_elements(element, from, out, to, run);
    from += run;
    int d = rank - 2;
    while (d >= 0 && ++at[static_cast<std::size_t>(d)] == element.shape().dim(d))
      at[static_cast<std::size_t>(d--)] = 0;
    if (d < 0)
      return;
  }
}

Result<Shape> padded_shape(const std::vector<Tensor>& rows, const PartialShape& wanted,
                           std::size_t component) {
  std::vector<std::int64_t> dims = wanted.dims();
  for (std::int64_t& dim : dims)
    dim = std::max<std::int64_t>(dim, 0);
  for (const Tensor& row : rows) {
    if (row.shape().rank() != wanted.rank())
      return invalid_argument(str_cat(
          "All elements in a batch must have the same rank as the padded shape for component",
          component, ": expected rank ", wanted.rank(), " but got element with rank ",
          row.shape().rank()));
    for (int d = 0; d < wanted.rank(); ++d) {
      std::int64_t& dim = dims[static_cast<std::size_t>(d)];
      if (row.shape().dim(d) <= dim)
        continue;
      if (wanted.dim(d) >= 0)
        return data_loss("Attempted to pad to a smaller size than the input element.");
      dim = row.shape().dim(d);
    }
  }
  return Shape::make(dims);
}

Result<Tensor> stack_padded(const std::vector<Tensor>& rows, const Shape& shape,
                            const Tensor& value, Allocator& memory) {
  if (is_zero(value))
    return stack_rows(rows, value.dtype(), shape, memory);
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(rows.size())};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  TROUPE_ASSIGN(const Shape all, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, value.dtype(), all));
  fill(out, value);
  for (std::size_t i = 0; i < rows.size(); ++i)
    copy_into(rows[i], out, static_cast<std::int64_t>(i), shape);
  TROUPE_TRY(out.settle(memory));
  return out;
}

} // namespace

Result<Element> make_batch(Elements& elements, Allocator& memory) {
  TROUPE_TRY(check_component_counts(elements));
  Element out;
  for (std::size_t i = 0; i < elements[0].size(); ++i) {
    const std::vector<Tensor> rows = component(elements, i);
    for (std::size_t k = 1; k < rows.size(); ++k) {
      if (rows[k].shape() != rows[0].shape())
        return invalid_argument(str_cat("Cannot batch tensors with different shapes in component ",
                                        i, ". First element had shape ", rows[0].shape(),
                                        " and element ", k, " had shape ", rows[k].shape(), "."));
      if (rows[k].dtype() != rows[0].dtype())
        return invalid_argument(str_cat("Data type mismatch at component ", i, ": expected ",
                                        to_string(rows[0].dtype()), " but got ",
                                        to_string(rows[k].dtype()), "."));
    }
    TROUPE_ASSIGN(Tensor batch, stack_rows(rows, rows[0].dtype(), rows[0].shape(), memory));
    out.push_back(std::move(batch));
  }
  elements.clear();
  return out;
}

Result<Element> make_padded_batch(Elements& elements, const std::vector<Padding>& paddings,
                                  Allocator& memory) {
  Element out;
  for (std::size_t k = 0; k < elements.size(); ++k)
    if (elements[k].size() != paddings.size())
      return invalid_argument(str_cat("Number of components does not match: expected ",
                                      paddings.size(), " types but got ", elements[k].size(), "."));
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    const std::vector<Tensor> rows = component(elements, i);
    for (const Tensor& row : rows)
      if (row.dtype() != paddings[i].value.dtype())
        return invalid_argument(str_cat("Data type mismatch at component ", i, ": expected ",
                                        to_string(paddings[i].value.dtype()), " but got ",
                                        to_string(row.dtype()), "."));
    TROUPE_ASSIGN(const Shape shape, padded_shape(rows, paddings[i].shape, i));
    TROUPE_ASSIGN(Tensor batch, stack_padded(rows, shape, paddings[i].value, memory));
    out.push_back(std::move(batch));
  }
  elements.clear();
  return out;
}

Async<Status> collect(Iterator& input, std::int64_t size, Elements& to, bool& has_ended,
                      ElementPull& pull) {
  while (static_cast<std::int64_t>(to.size()) < size) {
    TROUPE_CO_TRY(co_await pull.breathe());
    TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input.next(pull));
    if (!element) {
      has_ended = true;
      break;
    }
    TROUPE_CO_TRY(to.push(*std::move(element)));
  }
  co_return Status();
}

} // namespace troupe::data
