#include "actors/master_session/session_end.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

Status cut_short(const SessionEnd& end) {
  return end.cut_short("ab", "/job:a", "step 7", "the session goes on");
}

} // namespace

TEST_CASE("session end: one that is open refuses nothing, and goes on after a fault") {
  SessionEnd end;
  CHECK(end.refusal().ok());
  CHECK(!end.is_in_order());
  CHECK(cut_short(end).code() == Code::aborted);
  CHECK(cut_short(end).message() ==
        "step 7 of session ab ended with its master session, on task /job:a; the session goes on");
}

TEST_CASE("session end: one that leaves refuses new steps, and goes on with those that run") {
  SessionEnd end;
  end.leave(unavailable("about to end"), {});
  CHECK(end.refusal() == unavailable("about to end"));
  CHECK(!end.is_closing());
  CHECK(!end.is_in_order());
}

TEST_CASE("session end: a reason is what everybody is told") {
  SessionEnd end;
  end.leave(unavailable("about to end"), unavailable("has left"));
  CHECK(end.is_in_order());
  CHECK(cut_short(end) == unavailable("has left"));
  end.leave(unavailable("about to end"), {});
  CHECK(end.reason() == unavailable("has left"));
}

TEST_CASE("session end: one that is closed says so, and does not go on") {
  SessionEnd end;
  CHECK(end.close());
  CHECK(!end.close());
  CHECK(end.is_closing());
  CHECK(end.refusal().code() == Code::failed_precondition);
  CHECK(cut_short(end).message().find("was closed while the request waited") != std::string::npos);
  CHECK(cut_short(end).message().find("goes on") == std::string::npos);
}
