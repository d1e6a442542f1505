// SPDX-License-Identifier: Apache-2.0
#include "rpc/services.h"

#include <tutti/v1/cluster.grpc.pb.h>
#include <tutti/v1/decisions.grpc.pb.h>
#include <tutti/v1/queues.grpc.pb.h>
#include <tutti/v1/version.grpc.pb.h>
#include <tutti/v1/whatif.grpc.pb.h>

#include <utility>

#include "doors/cluster.h"
#include "doors/gangs.h"
#include "doors/prospects.h"
#include "rpc/unary_call.h"
#include "rpc/watch_call.h"

namespace tutti::rpc {
namespace {

using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;
using doors::Sight;

// Begins a call that `ask` answers, with the caller's sight of the namespace.
template <typename Response, typename Question>
Reactor* Begin(Front& front, Context* context, std::string ns, Response* response, Question question) {
  return UnaryCall::Begin(front, *context, [&front, ns, response, question](const Callers::Rights& rights) {
    Sight sight = front.desk.SightOf(rights, ns);
    doors::DoorResult<Response> answer = question(sight);
    if (!answer) return StatusOf(answer.error());
    *response = *std::move(answer);
    return grpc::Status::OK;
  });
}

class Decisions final : public v1::Decisions::CallbackService {
 public:
  explicit Decisions(Front& front) : front_(front) {}

  Reactor* List(Context* context, const v1::ListGangsRequest* request, v1::ListGangsResponse* response) override {
    return Begin(front_, context, request->namespace_(), response,
                 [this, request](Sight& sight) { return front_.desk.gangs().List(*request, sight); });
  }
  Reactor* Get(Context* context, const v1::GetGangRequest* request, v1::Gang* response) override {
    return Begin(front_, context, request->namespace_(), response,
                 [this, request](Sight& sight) { return AskOfOne(*request, sight, &doors::Gangs::Get); });
  }
  Reactor* History(Context* context, const v1::GetGangRequest* request, v1::GangHistory* response) override {
    return Begin(front_, context, request->namespace_(), response,
                 [this, request](Sight& sight) { return AskOfOne(*request, sight, &doors::Gangs::History); });
  }
  grpc::ServerWriteReactor<v1::WatchGangsResponse>* Watch(Context* context,
                                                          const v1::WatchGangsRequest* request) override {
    return WatchCall::Begin(front_, *context, *request);
  }

 private:
  // A path of the other door cannot be without the two; here they could be left out.
  template <typename T>
  doors::DoorResult<T> AskOfOne(const v1::GetGangRequest& request, Sight& sight,
                            doors::DoorResult<T> (doors::Gangs::*ask)(const v1::GetGangRequest&, Sight&)) {
    if (request.namespace_().empty() || request.name().empty())
      return doors::Fail(doors::Failure::Kind::kInvalid, "namespace and name of the gang are needed");
    return (front_.desk.gangs().*ask)(request, sight);
  }

  Front& front_;
};

class Cluster final : public v1::Cluster::CallbackService {
 public:
  explicit Cluster(Front& front) : front_(front) {}

  Reactor* ListNodes(Context* context, const v1::ListNodesRequest* request, v1::ListNodesResponse* response) override {
    return Begin(front_, context, "", response,
                 [this, request](Sight& sight) { return front_.desk.cluster().ListNodes(*request, sight); });
  }

 private:
  Front& front_;
};

class Queues final : public v1::Queues::CallbackService {
 public:
  explicit Queues(Front& front) : front_(front) {}

  Reactor* List(Context* context, const v1::ListQueuesRequest* request, v1::ListQueuesResponse* response) override {
    return Begin(front_, context, "", response,
                 [this, request](Sight& sight) { return front_.desk.cluster().ListQueues(*request, sight); });
  }

 private:
  Front& front_;
};

class Versions final : public v1::Versions::CallbackService {
 public:
  explicit Versions(Front& front) : front_(front) {}

  Reactor* Get(Context* context, const v1::GetVersionRequest*, v1::Version* response) override {
    return Begin(front_, context, "", response, [this](Sight& sight) { return front_.desk.GetVersion(sight); });
  }

 private:
  Front& front_;
};

class WhatIf final : public v1::WhatIf::CallbackService {
 public:
  explicit WhatIf(Front& front) : front_(front) {}

  Reactor* Ask(Context* context, const v1::WhatIfRequest* request, v1::WhatIfResponse* response) override {
    return Begin(front_, context, "", response,
                 [this, request](Sight& sight) { return front_.desk.prospects().Ask(*request, sight); });
  }

 private:
  Front& front_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeServices(Front& front) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(std::make_unique<Decisions>(front));
  services.push_back(std::make_unique<Cluster>(front));
  services.push_back(std::make_unique<Queues>(front));
  services.push_back(std::make_unique<Versions>(front));
  services.push_back(std::make_unique<WhatIf>(front));
  return services;
}

}  // namespace tutti::rpc
