#include "kernels/framework/members.hpp"

#include <string>
#include <vector>

#include "graph/op/members.hpp"

namespace troupe {

Status of_member(const KernelContext& c, const Status& failed, std::size_t member) {
  if (failed.code() != Code::invalid_argument)
    return failed;
  const auto members = c.attrs().get_or<std::vector<std::string>>(members_attr, {});
  if (member >= members.size())
    return failed;
  const std::string_view line = members[member];
  const std::size_t space = line.find(' ');
  if (space == line.npos)
    return failed;
  return failed.with_origin({std::string(line.substr(space + 1)),
                             std::string(line.substr(0, space)), c.device().name(),
                             c.step().step_id});
}

} // namespace troupe
