// How a declaration of ours is compared with that of a library's header.
#pragma once

#include <type_traits>

namespace troupe::cuda {

template <class Ours, class Theirs>
inline constexpr bool
    alike = sizeof(Ours) == sizeof(Theirs) &&
            std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_floating_point_v<Ours> ==
                std::is_floating_point_v<Theirs>;

/// As many parameters of the same sizes, pointers where pointers are.
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... P, class S, class... Q>
requires(sizeof...(P) == sizeof...(Q)) struct SameCall<R (*)(P...), S (*)(Q...)>
    : std::bool_constant<alike<R, S> && (alike<P, Q> && ...)> {
};

} // namespace troupe::cuda
