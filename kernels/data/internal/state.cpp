#include "kernels/data/internal/state.hpp"

namespace troupe::data {

void StateWriter::put_all(std::string_view name, const Tensors& values) const {
  const StateWriter to = in(name);
  to.put("size", static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    to.put(str_cat(i), values[i]);
}

void StateWriter::put_status(std::string_view name, const Status& status) const {
  put(str_cat(name, "_code"), static_cast<std::int64_t>(status.code()));
  put(str_cat(name, "_text"), status.message());
}

Status StateReader::missing(std::string_view name, std::string_view what) const {
  return data_loss(str_cat("the state of the iterator has no ", what, " '", prefix_, name, "'"));
}

Result<Tensor> StateReader::tensor(std::string_view name) const {
  auto at = entries_->find(str_cat(prefix_, name));
  if (at == entries_->end())
    return missing(name, "tensor");
  return at->second;
}

Result<std::int64_t> StateReader::integer(std::string_view name) const {
  TROUPE_ASSIGN(const Tensor value, tensor(name));
  if (value.dtype() != DType::int64 || value.num_elements() != 1)
    return missing(name, "number");
  return value.data<std::int64_t>()[0];
}

Result<std::size_t> StateReader::count(std::string_view name) const {
  TROUPE_ASSIGN(const std::int64_t value, integer(name));
  if (value < 0 || static_cast<std::size_t>(value) > entries_->size())
    return missing(name, "count");
  return static_cast<std::size_t>(value);
}

Result<std::string> StateReader::text(std::string_view name) const {
  TROUPE_ASSIGN(const Tensor value, tensor(name));
  if (value.dtype() != DType::string || value.num_elements() != 1)
    return missing(name, "text");
  return value.data<std::string>()[0];
}

Result<Tensors> StateReader::all(std::string_view name) const {
  const StateReader from = in(name);
  TROUPE_ASSIGN(const std::size_t size, from.count("size"));
  Tensors out;
  for (std::size_t i = 0; i < size; ++i) {
    TROUPE_ASSIGN(Tensor value, from.tensor(str_cat(i)));
    out.push_back(std::move(value));
  }
  return out;
}

Status StateReader::read_status(std::string_view name, Status& out) const {
  TROUPE_ASSIGN(const std::int64_t code, integer(str_cat(name, "_code")));
  TROUPE_ASSIGN(std::string message, text(str_cat(name, "_text")));
  if (code < 0 || code > static_cast<std::int64_t>(Code::unauthenticated))
    return missing(name, "status");
  out = code == 0 ? Status() : Status(static_cast<Code>(code), std::move(message));
  return {};
}

} // namespace troupe::data
