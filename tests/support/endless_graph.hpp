// A graph for tests of what ends a step from outside.
#pragma once

#include <string_view>

namespace troupe::testing {

/// A loop whose condition stays true; `end` is what a step waits for.
inline constexpr std::string_view endless_graph = R"(
zero = Const[dtype=DT_INT32, value=i32[] 0]()
yes = Const[dtype=DT_BOOL, value=bool[] true]()
in = Enter[frame_name="w"](zero)
yes_in = Enter[frame_name="w", is_constant=true](yes)
i = Merge(in, next)
cond = LoopCond(yes_in)
switch = Switch(i, cond)
body = Identity(switch:1)
next = NextIteration(body)
end = Exit(switch:0)
)";

} // namespace troupe::testing
