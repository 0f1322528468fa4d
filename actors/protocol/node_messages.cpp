// The code of the messages of node.hpp; see message_code.hpp.
#include "actors/protocol/message_code.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/node.hpp"

TROUPE_MESSAGE_CODE(caf::atom_value)
