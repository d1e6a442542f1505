// SPDX-License-Identifier: Apache-2.0
// Deletes, by UID and by controller.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "writer_rig.h"

namespace tutti::kube {
namespace {

using cluster::Outcome;

TEST_CASE("a delete is done when no object of that UID is left") {
  for (const auto& [status, outcome] : std::vector<std::pair<int, Outcome>>{
           {200, Outcome::kDone}, {404, Outcome::kDone}, {409, Outcome::kDone}, {403, Outcome::kRefused}}) {
    WriterRig rig;
    rig.Submit({{1, cluster::Lane::kEvict, rig.In(9'000),
                 cluster::Delete{cluster::NewRef("", "v1", "pods", "Pod", "ns", "p", "u1", "")}}});
    const auto call = rig.server.open.front();
    CHECK(base::Json::parse(call->request.body).at("preconditions").at("uid") == "u1");
    rig.server.AnswerJson(call, status, StatusJson(status, "x"));
    CHECK(rig.Only().outcome == outcome);
  }
}

TEST_CASE("what is to be deleted for its controller is read first, and stays where it is another's") {
  WriterRig rig;
  const auto remove = [&rig] {
    rig.Submit({{1, cluster::Lane::kBind, rig.In(9'000),
                 cluster::Delete{.object = cluster::NewRef("", "v1", "configmaps", "ConfigMap", "ns", "m"),
                                 .controller = "u-aw"}}});
    const Request& read = rig.server.open.front()->request;
    CHECK(read.method == Method::kGet);
    CHECK(read.target == "/api/v1/namespaces/ns/configmaps/m");
  };
  const auto answer = [&rig](int status, const std::string& body) {
    rig.server.AnswerJson(rig.server.open.front(), status, body);
  };
  const auto owned = [](const char* uid, bool controls) {
    const base::Json owner = {
        {"apiVersion", "g/v1"}, {"kind", "A"}, {"name", "a"}, {"uid", uid}, {"controller", controls}};
    return base::Json{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", {{"name", "m"}, {"namespace", "ns"}, {"uid", "u-m"}, {"ownerReferences", {owner}}}}}
        .dump();
  };
  SECTION("of that one") {
    remove();
    answer(503, "");  // and it is read again
    CHECK(rig.Silent());
    rig.loop.Advance(1'000);
    answer(200, owned("u-aw", true));
    rig.loop.Advance(1'000);
    const Request& write = rig.server.open.front()->request;
    CHECK(write.method == Method::kDelete);
    CHECK(write.target.starts_with("/api/v1/namespaces/ns/configmaps/m?"));
    CHECK(write.body.find(R"("preconditions":{"uid":"u-m"})") != std::string::npos);
    answer(200, "{}");
  }
  SECTION("of another, of none, or not there") {
    remove();
    const auto [status, uid, controls] =
        GENERATE(std::tuple(200, "u-other", true), std::tuple(200, "u-aw", false), std::tuple(404, "u-aw", true));
    answer(status, owned(uid, controls));
  }
  CHECK(rig.Only().outcome == Outcome::kDone);
  CHECK(rig.server.open.empty());
}

TEST_CASE("what could not be read before it is deleted is not deleted") {
  const int status = GENERATE(403, 500);
  WriterRig rig;
  rig.Submit({{1, cluster::Lane::kBind, rig.In(3'000),
               cluster::Delete{.object = cluster::NewRef("", "v1", "configmaps", "ConfigMap", "ns", "m"),
                               .controller = "u-aw"}}});
  rig.server.AnswerJson(rig.server.open.front(), status, StatusJson(status, "no"));
  if (status == 500) {  // it may be read later
    CHECK(rig.Silent());
    rig.loop.Advance(10'000);
  }
  CHECK(rig.Only().outcome == Outcome::kRefused);
}

}  // namespace
}  // namespace tutti::kube
