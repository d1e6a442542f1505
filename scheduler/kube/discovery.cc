// SPDX-License-Identifier: Apache-2.0
#include "kube/discovery.h"

#include "base/json.h"
#include "base/log.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "kube/text_at.h"

namespace tutti::kube {
namespace {

using Json = base::Json;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
constexpr base::Millis kPeriodMs = 10'000;
constexpr base::Millis kQuickMs[] = {2'000, 500, 50};  // by rounds left
constexpr base::Millis kTimeoutMs = 30'000;

// Returns the items of a list field; none when it is absent.
const Json& Items(const Json& object, const char* key) {
  static const Json none = Json::array();
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_array() ? *at : none;
}

}  // namespace

Discovery::Discovery(Loop& loop, Transport& transport, base::Random& random)
    : loop_(loop), transport_(transport), backoff_(500, 30'000, random) {}

Discovery::~Discovery() {
  loop_.CancelTimer(timer_);
  for (const RequestId id : requests_) transport_.Cancel(id);
}

void Discovery::Start(const std::vector<model::ObjectKind>& wanted, std::function<void()> changed) {
  for (const model::ObjectKind& kind : wanted) wanted_groups_.insert(kind.group);
  changed_ = std::move(changed);
  Ask();
}

void Discovery::Want(const std::vector<model::ObjectKind>& kinds) {
  for (const model::ObjectKind& kind : kinds) wanted_groups_.insert(kind.group);
  tell_ = true;
  AskSoon();
}

void Discovery::AskSoon() {
  quick_rounds_ = std::size(kQuickMs);
  if (open_requests_ > 0)
    ask_again_ = true;
  else
    Schedule(kQuickMs[--quick_rounds_]);
}

void Discovery::Schedule(base::Millis delay_ms) {
  loop_.CancelTimer(timer_);
  timer_ = loop_.After(delay_ms, [this] {
    timer_ = 0;
    Ask();
  });
}

std::optional<std::string> Discovery::BestVersion(const model::ObjectKind& kind) const {
  for (const std::string& version : kind.versions)
    if (Find(kind.group, version, kind.resource) != nullptr) return version;
  return std::nullopt;
}

std::optional<model::ObjectKind> Discovery::ResourceOf(const std::string& group, const std::string& kind) const {
  std::map<std::string, std::map<size_t, std::string>> found;  // by resource: versions by rank
  const Table& table = group.empty() ? core_ : table_;
  for (auto at = table.lower_bound({group, "", ""}); at != table.end() && std::get<0>(at->first) == group; ++at)
    if (at->second.kind == kind) found[std::get<2>(at->first)][at->second.rank] = std::get<1>(at->first);
  if (found.empty()) return std::nullopt;
  model::ObjectKind result{group, found.begin()->first, kind, {}};
  for (auto& [rank, version] : found.begin()->second) result.versions.push_back(std::move(version));
  return result;
}

const ServedResource* Discovery::Find(const std::string& group, const std::string& version,
                                      const std::string& resource) const {
  const Table& table = group.empty() ? core_ : table_;
  const auto at = table.find({group, version, resource});
  return at == table.end() ? nullptr : &at->second;
}

void Discovery::Ask() {
  next_.clear();
  next_is_whole_ = true;
  told_for_ |= std::exchange(tell_, false);
  if (!core_known_) AskCore();
  Request request;
  request.target = "/apis";
  request.accept = kAggregated;
  request.if_none_match = etag_;
  Get(std::move(request), [this](const Response& response) { OnGroups(response); });
}

// Sends one request of the round; the round ends when all are answered.
void Discovery::Get(Request request, std::function<void(const Response&)> read) {
  request.channel = Channel::kControl;
  request.timeout_ms = kTimeoutMs;
  ++open_requests_;
  const auto id = std::make_shared<RequestId>();
  *id = transport_.Send(std::move(request), [this, id, read = std::move(read)](const Response& response) {
    requests_.erase(*id);
    read(response);
    if (--open_requests_ == 0) Finish();
  });
  requests_.insert(*id);
}

// Asks for the core group, which does not change while a server runs.
void Discovery::AskCore() {
  Request request;
  request.target = "/api/v1";
  Get(std::move(request),
      [this](const Response& response) { core_known_ = ReadGroupVersion("", "v1", 0, response, &core_); });
}

void Discovery::OnGroups(const Response& response) {
  if (response.status == 304) {
    next_ = table_;
    return;
  }
  const Json list = response.ok() ? cluster::ParseJson(response.body) : Json();
  if (!list.is_object()) {
    next_is_whole_ = false;
    return Complain(response.ok() ? "not JSON" : Complaint(Judge(response)));
  }
  next_etag_ = response.etag;
  if (TextAt(list, "kind") == "APIGroupDiscoveryList")
    ReadAggregated(list);
  else
    AskEachGroup(list);
}

void Discovery::ReadAggregated(const Json& list) {
  for (const Json& group : Items(list, "items")) {
    const auto meta = group.find("metadata");
    const std::string name = meta == group.end() ? "" : TextAt(*meta, "name");
    size_t rank = 0;
    for (const Json& version : Items(group, "versions")) {
      const std::string version_name = TextAt(version, "version");
      if (TextAt(version, "freshness") == "Stale") {
        // The kinds of an aggregated server that does not answer now are kept.
        for (const auto& [key, served] : table_)
          if (std::get<0>(key) == name && std::get<1>(key) == version_name) next_.emplace(key, served);
      }
      for (const Json& resource : Items(version, "resources")) {
        const auto kind = resource.find("responseKind");
        ServedResource served{kind == resource.end() ? "" : TextAt(*kind, "kind"),
                              TextAt(resource, "scope") == "Namespaced", false, rank};
        for (const Json& sub : Items(resource, "subresources"))
          served.has_status |= TextAt(sub, "subresource") == "status";
        next_[{name, version_name, TextAt(resource, "resource")}] = std::move(served);
      }
      ++rank;
    }
  }
}

void Discovery::AskEachGroup(const Json& groups) {
  next_etag_.clear();  // the ETag covers the list of groups, not their resources
  for (const Json& group : Items(groups, "groups")) {
    const std::string name = TextAt(group, "name");
    if (!wanted_groups_.contains(name)) continue;
    size_t rank = 0;
    for (const Json& item : Items(group, "versions")) {
      const std::string version = TextAt(item, "version");
      Request request;
      request.target = GroupPath(name, version);
      Get(std::move(request), [this, name, version, rank](const Response& response) {
        if (response.status != 404) ReadGroupVersion(name, version, rank, response, &next_);
      });
      ++rank;
    }
  }
}

bool Discovery::ReadGroupVersion(const std::string& group, const std::string& version, size_t rank,
                                 const Response& response, Table* into) {
  const Json list = response.ok() ? cluster::ParseJson(response.body) : Json();
  if (!list.is_object()) {
    next_is_whole_ = false;
    Complain(response.ok() ? "not JSON" : Complaint(Judge(response)));
    return false;
  }
  for (const Json& resource : Items(list, "resources")) {
    const std::string name = TextAt(resource, "name");
    const size_t slash = name.find('/');
    if (slash == name.npos) {
      ServedResource& served = (*into)[{group, version, name}];
      served.kind = TextAt(resource, "kind");
      served.namespaced = resource.value("namespaced", Json(true)) != Json(false);
      served.rank = rank;
    } else if (name.substr(slash) == "/status") {
      (*into)[{group, version, name.substr(0, slash)}].has_status = true;
    }
  }
  return true;
}

void Discovery::Finish() {
  if (!next_is_whole_) {
    Schedule(backoff_.Next());
    return;
  }
  backoff_.Reset();
  last_complaint_.clear();
  etag_ = next_etag_;
  const bool tell = std::exchange(told_for_, false) || !known_ || table_ != next_;
  table_ = std::move(next_);
  next_.clear();
  known_ = true;
  const bool again = std::exchange(ask_again_, false);
  Schedule(again || quick_rounds_ > 0 ? kQuickMs[quick_rounds_ > 0 ? --quick_rounds_ : 0] : kPeriodMs);
  if (tell && changed_) changed_();
}

void Discovery::Complain(const std::string& what) {
  if (what.empty() || what == last_complaint_) return;
  last_complaint_ = what;
  base::LogWarn("discovery failed", {{"error", what}});
}

}  // namespace tutti::kube
