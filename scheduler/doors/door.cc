// SPDX-License-Identifier: Apache-2.0
#include "doors/door.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tutti/v1/version.pb.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "doors/cluster.h"
#include "doors/desk.h"
#include "doors/event_stream.h"
#include "doors/gangs.h"
#include "doors/prospects.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using server::FolderAnswer;
using server::FolderRequest;

FolderAnswer Refused(const Failure& failure) {
  return {StatusOf(failure.kind), failure.message + "\n", server::kText};
}
FolderAnswer Refused(Failure::Kind kind, std::string message) { return Refused(Failure{kind, std::move(message)}); }

template <typename Message>
FolderAnswer Render(const DoorResult<Message>& answer) {
  if (!answer) return Refused(answer.error());
  std::string text = JsonOf(*answer);
  if (text.empty()) return {500, "the answer cannot be said in JSON\n", server::kText};
  return {200, std::move(text) + "\n"};
}

bool IsSet(const FolderRequest& request, const char* name) {
  const auto at = request.query.find(name);
  return at != request.query.end() && at->second != "false" && at->second != "0";
}

// The parts of the path below the prefix.
std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts;
  size_t begin = std::string_view(Door::kPrefix).size();
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

v1::GetGangRequest GangIn(const FolderRequest& request) {
  const std::vector<std::string> parts = PartsOf(request.path);
  v1::GetGangRequest get;
  get.set_namespace_(Utf8(parts[1]));
  get.set_name(Utf8(parts[2]));
  get.set_dialect(Utf8(server::ValueOf(request.query, "dialect")));
  return get;
}

}  // namespace

struct Door::Parts {
  struct Route {
    std::vector<std::string> parts;  // "*" is any text
    std::vector<std::string> parameters;
    FolderAnswer (Parts::*show)(const FolderRequest&);
    std::string method = "GET";

    bool Fits(const std::vector<std::string>& path) const {
      return std::ranges::equal(parts, path, [](const std::string& want, const std::string& got) {
        return want == got || (want == "*" && !got.empty());
      });
    }
  };
  static const std::vector<Route>& Routes();

  explicit Parts(Desk& of) : desk(of) {}

  FolderAnswer ShowGangs(const FolderRequest& request);
  FolderAnswer ShowGang(const FolderRequest& request);
  FolderAnswer ShowHistory(const FolderRequest& request);
  FolderAnswer ShowQueues(const FolderRequest& request);
  FolderAnswer ShowNodes(const FolderRequest& request);
  FolderAnswer ShowVersion(const FolderRequest& request);
  FolderAnswer Watch(const FolderRequest& request);
  FolderAnswer AskWhatIf(const FolderRequest& request);
  Sight SightOf(const FolderRequest& request, std::string ns) const {
    return desk.SightOf(request.rights, std::move(ns));
  }

  Desk& desk;
};

const std::vector<Door::Parts::Route>& Door::Parts::Routes() {
  static const std::vector<Route> routes = {
      {{"gangs"}, {"namespace", "queue", "state", "name", "members"}, &Parts::ShowGangs},
      {{"gangs", "*", "*"}, {"dialect", "estimate"}, &Parts::ShowGang},
      {{"gangs", "*", "*", "history"}, {"dialect"}, &Parts::ShowHistory},
      {{"queues"}, {"name"}, &Parts::ShowQueues},
      {{"nodes"}, {"name", "labels", "holders"}, &Parts::ShowNodes},
      {{"version"}, {}, &Parts::ShowVersion},
      {{"watch"}, {"since", "namespace"}, &Parts::Watch},
      {{"whatif"}, {}, &Parts::AskWhatIf, "POST"},
  };
  return routes;
}

Door::Door(Desk& desk) : parts_(std::make_unique<Parts>(desk)) {}

Door::~Door() = default;

FolderAnswer Door::Show(const FolderRequest& request) {
  if (const DoorResult<void> may = parts_->desk.CheckSignedIn(request.rights); !may) return Refused(may.error());
  const std::vector<std::string> parts = PartsOf(request.path);
  for (const Parts::Route& route : Parts::Routes()) {
    if (!route.Fits(parts)) continue;
    if (route.method != request.method)
      return {405, fmt::format("this path takes {} alone\n", route.method), server::kText};
    for (const auto& [name, value] : request.query)
      if (std::ranges::find(route.parameters, name) == route.parameters.end())
        return Refused(Failure::Kind::kInvalid,
                       route.parameters.empty() ? fmt::format("unknown parameter \"{}\"; there are none", Utf8(name))
                                                : fmt::format("unknown parameter \"{}\"; known are {}", Utf8(name),
                                                              fmt::join(route.parameters, ", ")));
    return ((*parts_).*route.show)(request);
  }
  std::string known;
  for (const Parts::Route& route : Parts::Routes())
    known += fmt::format("\n{}{}", kPrefix, fmt::join(route.parts, "/"));
  return Refused(Failure::Kind::kNotFound, "there is no such path; known are" + known);
}

FolderAnswer Door::Parts::ShowGangs(const FolderRequest& request) {
  v1::ListGangsRequest list;
  list.set_namespace_(Utf8(server::ValueOf(request.query, "namespace")));
  list.set_queue(Utf8(server::ValueOf(request.query, "queue")));
  list.set_state(Utf8(server::ValueOf(request.query, "state")));
  list.set_name(Utf8(server::ValueOf(request.query, "name")));
  list.set_members(IsSet(request, "members"));
  Sight sight = SightOf(request, list.namespace_());
  return Render(desk.gangs().List(list, sight));
}

FolderAnswer Door::Parts::ShowGang(const FolderRequest& request) {
  v1::GetGangRequest get = GangIn(request);
  get.set_estimate(IsSet(request, "estimate"));
  Sight sight = SightOf(request, get.namespace_());
  return Render(desk.gangs().Get(get, sight));
}

FolderAnswer Door::Parts::ShowHistory(const FolderRequest& request) {
  const v1::GetGangRequest get = GangIn(request);
  Sight sight = SightOf(request, get.namespace_());
  return Render(desk.gangs().History(get, sight));
}

FolderAnswer Door::Parts::ShowQueues(const FolderRequest& request) {
  v1::ListQueuesRequest list;
  list.set_name(Utf8(server::ValueOf(request.query, "name")));
  Sight sight = SightOf(request, "");
  return Render(desk.cluster().ListQueues(list, sight));
}

FolderAnswer Door::Parts::ShowNodes(const FolderRequest& request) {
  v1::ListNodesRequest list;
  list.set_name(Utf8(server::ValueOf(request.query, "name")));
  list.set_without_holders(request.query.contains("holders") && !IsSet(request, "holders"));
  const std::string keys = Utf8(server::ValueOf(request.query, "labels"));
  for (size_t begin = 0; begin < keys.size();) {
    const size_t end = std::min(keys.find(',', begin), keys.size());
    if (end > begin) list.add_labels(keys.substr(begin, end - begin));
    begin = end + 1;
  }
  Sight sight = SightOf(request, "");
  return Render(desk.cluster().ListNodes(list, sight));
}

FolderAnswer Door::Parts::ShowVersion(const FolderRequest& request) {
  Sight sight = SightOf(request, "");
  return Render(desk.GetVersion(sight));
}

FolderAnswer Door::Parts::AskWhatIf(const FolderRequest& request) {
  const DoorResult<v1::WhatIfRequest> asked = ParseWhatIf(request.body);
  if (!asked) return Refused(asked.error());
  Sight sight = SightOf(request, "");
  return Render(desk.prospects().Ask(*asked, sight));
}

FolderAnswer Door::Parts::Watch(const FolderRequest& request) {
  uint64_t since = 0;
  const std::string text =
      request.last_event_id.empty() ? server::ValueOf(request.query, "since") : request.last_event_id;
  if (!text.empty() && !absl::SimpleAtoi(text, &since))
    return Refused(Failure::Kind::kInvalid, "since must be the \"sequence\" of an earlier answer, a whole number");
  DoorResult<Follower> follower =
      desk.Watch(since, SightOf(request, Utf8(server::ValueOf(request.query, "namespace"))));
  if (!follower) return Refused(follower.error());
  FolderAnswer answer;
  answer.type = server::kEvents;
  answer.stream = std::make_shared<EventStream>(*std::move(follower));
  return answer;
}

}  // namespace tutti::doors
