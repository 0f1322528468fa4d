// Roles: what kind of op an op is, beyond its signature. An op declares its roles in its own file;
// the executor, the passes, placement, differentiation and the explainers ask for roles, never for
// names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace troupe {

/// Each enumerator is a statement about every node of the op.
enum class Role : std::uint8_t {
  // Where values come from and go to.
  constant,    ///< output 0 is the attribute "value"
  placeholder, ///< stands for a value that a step is fed
  argument,    ///< output 0 is the fed value number "index"
  result,      ///< input 0 becomes the fetched value number "index"
  send,        ///< sends a cut edge's value, or the news that it is dead
  receive,     ///< the receiving half of a cut edge; its output may be dead while it is not
  passes_on,   ///< output 0 is input 0 itself, value or reference

  // Control flow.
  no_op,          ///< computes nothing; there for its control edges
  trigger,        ///< a no_op that runs even where what it waits for is dead
  branch,         ///< input 0 leaves by the output that input 1 picks; the others are dead
  merge,          ///< runs as soon as one input is there alive; output 1 is that input's index
  enter,          ///< brings input 0 into the loop of the attribute "frame_name"
  exit,           ///< takes input 0 out of its loop
  next_iteration, ///< takes input 0 to the next iteration
  loop_condition, ///< whether its loop goes on

  // What may be done with it.
  metadata,    ///< reads the shapes of its inputs alone; its shape function gives its values
  check,       ///< there for the error that it may give: computed even if nothing reads it
  random,      ///< gives other values each time: neither folded nor merged with an equal node
  blocks,      ///< waits for something outside of its step: never run at optimisation time
  side_effect, ///< changes what outlives its step: kept, and neither folded nor merged
  flat,        ///< its derivative is zero wherever it is defined
  filtering,   ///< a convolution that takes fewer products where its attribute "_winograd" is set
  /// Runs functions that its attributes name by itself, while it runs or later: they stay
  /// functions, and go where the node goes.
  runs_functions,

  // Variables and resources.
  variable,         ///< gives the reference or the handle of a variable
  reads_variable,   ///< its output may be the memory of the variable itself
  takes_any_handle, ///< takes handles of resources on other devices
  asks_variable,    ///< says whether the variable holds a value
};

/// A set of roles: a word of bits.
class RoleSet {
public:
  constexpr RoleSet() = default;
  constexpr RoleSet(Role role) : bits_(bit(role)) {}
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (Role role : roles)
      bits_ |= bit(role);
  }
  constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }
  constexpr bool has_any(RoleSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr RoleSet& operator|=(RoleSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  friend constexpr bool operator==(RoleSet, RoleSet) = default;

private:
  static constexpr std::uint32_t bit(Role role) {
    return std::uint32_t{1} << static_cast<unsigned>(role);
  }
  std::uint32_t bits_ = 0;
};

/// Ops that decide which nodes run, and how often.
inline constexpr RoleSet control_flow_roles{Role::trigger,       Role::branch, Role::merge,
                                            Role::enter,         Role::exit,   Role::next_iteration,
                                            Role::loop_condition};
/// Ops that are alive while some of their outputs are dead.
inline constexpr RoleSet outputs_die_alone_roles{Role::branch, Role::receive};
/// The two halves of a cut edge.
inline constexpr RoleSet transfer_roles{Role::send, Role::receive};
/// Ops whose nodes differ in effect or value though they are equal, or stand for something else.
inline constexpr RoleSet not_free_roles{Role::placeholder, Role::argument,   Role::result,
                                        Role::send,        Role::receive,    Role::random,
                                        Role::blocks,      Role::side_effect};

/// "branch, check", in the order of the enumerators; empty if there are none.
std::string to_string(RoleSet roles);

} // namespace troupe
