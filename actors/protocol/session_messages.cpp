// The code of the messages of session.hpp; see message_code.hpp.
#include "actors/protocol/master.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/session.hpp"
