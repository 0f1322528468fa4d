// TROUPE_MESSAGE: gives a struct its place in a block of type ids, and its code to one .cpp.
//
// From a message CAF makes some thirty functions (in a mailbox, in an answer, copied, saved,
// loaded, printed), in every file that sends or answers it. That was nearly half of the time that
// compiling the actors took. All of them are virtual, so nothing is lost by having them in one
// place.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/type_id.hpp>

/// One line for each message, between CAF_BEGIN_TYPE_ID_BLOCK and CAF_END_TYPE_ID_BLOCK.
#define TROUPE_MESSAGE(block, name)                                                                \
  CAF_ADD_TYPE_ID(block, (troupe::name))                                                           \
  TROUPE_MESSAGE_CODE(troupe::name)

/// The same for a message that stays in its process. It has a number, by which a mailbox knows it
/// fast, and no form on a wire: no port reads it, and nobody can send it to another node.
#define TROUPE_LOCAL_MESSAGE(block, name)                                                          \
  CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::name)                                                      \
  TROUPE_MESSAGE(block, name)

/// Code that lies in another file. A family's NAME_messages.cpp sets this to `template` before it
/// includes the family's header, and so becomes that file.
#define TROUPE_MESSAGE_TEMPLATE extern template

#define TROUPE_MESSAGE_CODE(type)                                                                  \
  TROUPE_MESSAGE_TEMPLATE class caf::detail::tuple_vals_impl<caf::type_erased_tuple, type>;        \
  TROUPE_MESSAGE_TEMPLATE class caf::detail::tuple_vals_impl<caf::detail::message_data, type>;     \
  TROUPE_MESSAGE_TEMPLATE class caf::detail::tuple_vals<type>;                                     \
  TROUPE_MESSAGE_TEMPLATE class caf::detail::type_erased_value_impl<type>;                         \
  TROUPE_MESSAGE_TEMPLATE caf::message caf::mailbox_element_vals<type>::move_content_to_message(); \
  TROUPE_MESSAGE_TEMPLATE caf::message caf::mailbox_element_vals<type>::copy_content_to_message()  \
      const;

/// Every verb without fields, and `ok`.
TROUPE_MESSAGE_CODE(caf::atom_value)
