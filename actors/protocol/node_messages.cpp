// The code of the messages of wire/node.hpp and local/node.hpp; see message_code.hpp.
#include "actors/protocol/message_code.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/local/node.hpp"

TROUPE_MESSAGE_CODE(caf::atom_value)
