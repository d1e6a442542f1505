// SPDX-License-Identifier: Apache-2.0
// Discovery: which kinds the API server has, in which versions. The loop's thread only.
//
// Asked every 10 s with If-None-Match, which costs the server next to nothing, and at once when told that a
// CustomResourceDefinition changed. Servers without aggregated discovery are asked group by group, for the groups that
// somebody wants.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/json_fwd.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"
#include "model/object.h"

namespace tutti::kube {

struct ServedResource {
  bool namespaced = true;
  bool has_status = false;  // a status subresource
};

class Discovery {
 public:
  Discovery(Loop& loop, Transport& transport, base::Random& random);
  ~Discovery();

  // `changed` runs after the first complete answer, and after each that differs from the one before.
  void Start(std::vector<model::ObjectKind> wanted, std::function<void()> changed);
  // Asks again at once, and twice more within seconds: a new CRD takes a moment to be served.
  void AskSoon();

  // An answer has been had.
  bool known() const { return known_; }
  // The first of `kind.versions` that is served; nothing if none is.
  std::optional<std::string> BestVersion(const model::ObjectKind& kind) const;
  // nullptr when not served (or not in a wanted group).
  const ServedResource* Find(const std::string& group, const std::string& version, const std::string& resource) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, resource
  using Table = std::map<Key, ServedResource>;

  void Ask();
  void AskCore();
  void Get(Request request, std::function<void(const Response&)> read);
  void OnGroups(const Response& response);
  void ReadAggregated(const base::Json& list);
  void AskEachGroup(const base::Json& groups);
  bool ReadGroupVersion(const std::string& group, const std::string& version, const Response& response, Table* into);
  void Finish();
  void Schedule(base::Millis delay_ms);
  void Complain(const std::string& what);

  Loop& loop_;
  Transport& transport_;
  Backoff backoff_;
  std::vector<model::ObjectKind> wanted_;
  std::set<std::string> wanted_groups_;
  std::function<void()> changed_;
  Table core_, table_, next_;
  bool known_ = false, core_known_ = false;
  bool next_is_whole_ = true;
  size_t open_requests_ = 0;
  std::set<RequestId> requests_;
  std::string etag_, next_etag_;
  TimerId timer_ = 0;
  bool ask_again_ = false;  // somebody asked while a round was under way
  int quick_rounds_ = 0;    // left after AskSoon
  std::string last_complaint_;
};

}  // namespace tutti::kube
