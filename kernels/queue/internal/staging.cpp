#include "kernels/queue/internal/staging.hpp"
#include "core/base/strings.hpp"

namespace troupe::staging {

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Node out;
  TROUPE_ASSIGN(out.resource, named_resource(c));
  TROUPE_ASSIGN(out.limits.elements, c.attr<std::int64_t>("capacity"));
  TROUPE_ASSIGN(const auto bytes, c.attr<std::int64_t>("memory_limit"));
  out.limits.bytes = static_cast<std::size_t>(bytes);
  out.types = c.attrs().get_or("dtypes", std::vector<DType>());
  return prepared(std::move(out));
}

std::string attrs(std::string_view least) {
  return str_cat("capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type)", least,
                 "; container: string = ''; shared_name: string = ''");
}

std::vector<Tensor> inputs_from(const KernelContext& c, int first) {
  std::vector<Tensor> out;
  for (int i = first; i < c.num_inputs(); ++i)
    out.push_back(c.input(i));
  return out;
}

} // namespace troupe::staging
