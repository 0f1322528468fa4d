// The user's own; ours of this path lies below troupe/detail/.
#pragma once

inline constexpr bool users_own_header = true;
