// The code of the messages of local/session.hpp; see message_code.hpp.
#include "actors/protocol/local/master.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/local/session.hpp"
