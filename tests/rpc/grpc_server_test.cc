// SPDX-License-Identifier: Apache-2.0
#include "rpc/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <tutti/v1/whatif.grpc.pb.h>

#include <chrono>
#include <fstream>
#include <future>
#include <mutex>
#include <vector>

#include "rig.h"
#include "tests/server/client_certificates.h"

namespace tutti::rpc {
namespace {

using doors::Waiting;
using grpc::StatusCode;

grpc::ByteBuffer EmptyRequest() {
  const grpc::Slice nothing;
  return grpc::ByteBuffer(&nothing, 1);
}

// An open call of Watch.
struct Watch {
  Watch(v1::Decisions::Stub& decisions, const std::string& token, uint64_t since = 0, const std::string& ns = "") {
    v1::WatchGangsRequest request;
    request.set_since(since);
    request.set_namespace_(ns);
    context = As(token);
    reader = decisions.Watch(context.get(), request);
  }
  ~Watch() {
    context->TryCancel();
    if (!ended) reader->Finish();
  }
  v1::WatchGangsResponse Next() {
    v1::WatchGangsResponse response;
    REQUIRE(reader->Read(&response));
    return response;
  }
  bool Goes() {
    v1::WatchGangsResponse response;
    return reader->Read(&response);
  }
  grpc::Status End() {
    while (Goes()) {
    }
    ended = true;
    return reader->Finish();
  }

  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientReader<v1::WatchGangsResponse>> reader;
  bool ended = false;
};

TEST_CASE("a watch goes on from the list before it, and shows what its user may see") {
  Rig rig;
  rig.stage.Show(Waiting("monitoring", "mine", 0, 1));
  rig.stage.Show(Waiting("default", "hidden", 0, 1));
  rig.Start();
  const auto decisions = rig.Decisions();
  const auto [status, all] = List(*decisions, "admin");
  REQUIRE(status.ok());
  CHECK(all.gangs_size() == 2);
  rig.stage.Show(Waiting("default", "later-hidden", 0, 1));
  rig.stage.Show(Waiting("monitoring", "later", 0, 1));
  Watch watch(*decisions, "prometheus", all.sequence());
  CHECK(watch.Next().sequence() == all.sequence());
  const auto change = watch.Next();
  CHECK(change.gang().name() == "later");
  CHECK(change.sequence() == all.sequence() + 2);
  Watch other(*decisions, "admin", 1);
  CHECK(other.Next().sequence() == 1);
  CHECK(other.Next().relist() == "changes after 1 are not kept");
  CHECK(other.End().ok());
}

TEST_CASE("calls are refused for the reasons for which the other door refuses them") {
  Rig rig;
  rig.stage.Show(Waiting("monitoring", "mine", 0, 1));
  rig.Start();
  const auto decisions = rig.Decisions();
  CHECK(List(*decisions, "prometheus").second.gangs_size() == 1);
  CHECK(List(*decisions, "prometheus", "default").first.error_code() == StatusCode::PERMISSION_DENIED);
  CHECK(List(*decisions, "stranger").first.error_code() == StatusCode::UNAUTHENTICATED);
  CHECK(List(*decisions, "").first.error_code() == StatusCode::UNAUTHENTICATED);
  CHECK(List(*decisions, "down").first.error_code() == StatusCode::UNAVAILABLE);
  CHECK(Watch(*decisions, "prometheus", 0, "default").End().error_code() == StatusCode::PERMISSION_DENIED);
  CHECK(Watch(*decisions, "stranger").End().error_code() == StatusCode::UNAUTHENTICATED);
  v1::GetGangRequest get;
  v1::Gang gang;
  CHECK(decisions->Get(As("admin").get(), get, &gang).error_code() == StatusCode::INVALID_ARGUMENT);
  get.set_namespace_("monitoring");
  get.set_name("unknown");
  CHECK(decisions->Get(As("admin").get(), get, &gang).error_code() == StatusCode::NOT_FOUND);
  get.set_name("mine");
  CHECK(decisions->Get(As("prometheus").get(), get, &gang).ok());
  rig.stage.not_leading = "not the leader";
  const auto of_standby = List(*decisions, "admin").first;
  CHECK(of_standby.error_code() == StatusCode::UNAVAILABLE);
  CHECK(of_standby.error_message() == "not the leader");
}

TEST_CASE("a question of what-if is answered, and refused when too many wait") {
  Rig rig;
  observe::Prospect prospect;
  prospect.gang = {"plain", "monitoring", "g"};
  prospect.verdict = observe::Prospect::Verdict::kFits;
  rig.stage.outlook = observe::Outlook{{prospect}, {}};
  rig.Start();
  const auto what_if = v1::WhatIf::NewStub(ChannelTo(rig.address()));
  v1::WhatIfRequest request;
  v1::WhatIfResponse response;
  CHECK(what_if->Ask(As("prometheus").get(), request, &response).error_code() == StatusCode::INVALID_ARGUMENT);
  request.set_manifests(std::string(1 << 20, '#'));
  REQUIRE(what_if->Ask(As("prometheus").get(), request, &response).ok());
  REQUIRE(response.prospects_size() == 1);
  CHECK(response.prospects(0).verdict() == "fits");
  rig.stage.outlook = doors::Fail(doors::Failure::Kind::kTooMany, "1000 questions wait");
  CHECK(what_if->Ask(As("prometheus").get(), request, &response).error_code() == StatusCode::RESOURCE_EXHAUSTED);
}

TEST_CASE("any user may ask for the server's health") {
  Rig rig;
  rig.Start();
  grpc::GenericStub stub(ChannelTo(rig.address()));
  grpc::CompletionQueue queue;
  const auto context = As("");
  const auto call = stub.PrepareUnaryCall(context.get(), "/grpc.health.v1.Health/Check", EmptyRequest(), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool well = false;
  queue.Next(&tag, &well);
  CHECK(status.ok());
  grpc::Slice bytes;
  REQUIRE(answer.DumpToSingleSlice(&bytes).ok());
  CHECK(std::string(bytes.begin(), bytes.end()) == "\x08\x01");  // field 1, SERVING
}

TEST_CASE("a caller on this machine needs no credential if the flag says so") {
  Rig rig;
  rig.options.always_allow_loopback = true;
  rig.Start();
  CHECK(List(*rig.Decisions(), "").first.ok());
}

TEST_CASE("a client certificate names its user") {
  const server::ClientCertificates files;
  Rig rig;
  rig.client_trust = [&files] { return files.Authority(); };
  rig.stage.Show(Waiting("default", "x", 0, 1));
  rig.Start();
  const auto list = [&](const std::string& name, const std::string& token = "", const std::string& ns = "") {
    const auto decisions = rig.Decisions(files.Text(name + ".crt"), files.Text(name + ".key"));
    return List(*decisions, token, ns).first.error_code();
  };
  while (list("master") != StatusCode::OK) {  // the CA is read in the background
  }
  CHECK(list("prometheus", "", "default") == StatusCode::PERMISSION_DENIED);
  CHECK(list("prometheus", "", "monitoring") == StatusCode::OK);
  CHECK(list("forged") == StatusCode::UNAUTHENTICATED);
  CHECK(list("forged", "admin") == StatusCode::OK);
  CHECK(list("server") == StatusCode::UNAUTHENTICATED);
  CHECK(List(*rig.Decisions(), "admin").first.ok());
}

TEST_CASE("a new certificate is served to those who connect after it, and a broken one is not taken") {
  const server::ClientCertificates files;  // any will do
  Rig rig;
  const auto copy = [&](const std::string& name) {
    std::ofstream(files.File("tls.key")) << files.Text(name + ".key");
    std::ofstream(files.File("tls.crt")) << files.Text(name + ".crt");
  };
  copy("ca");
  rig.options.certificate = {files.File("tls.crt"), files.File("tls.key")};
  rig.Start();
  const auto subject = [&] {
    const server::TlsClient client(rig.server->port());
    return client.PeerSubject();
  };
  CHECK(subject() == "/CN=ca");
  copy("other-ca");
  CHECK(subject() == "/CN=other-ca");
  std::ofstream(files.File("tls.crt")) << "not a certificate";
  CHECK(subject() == "/CN=other-ca");
}

TEST_CASE("a request that is too large, or compressed, is refused") {
  Rig rig;
  rig.Start();
  const auto decisions = rig.Decisions();
  const auto [status, response] = List(*decisions, "admin", std::string(GrpcServer::kMostRequestBytes, 'n'));
  CHECK(status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
  v1::ListGangsResponse none;
  const auto context = As("admin");
  context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::ListGangsRequest request;
  request.set_name(std::string(10'000, 'n'));
  CHECK(decisions->List(context.get(), request, &none).error_code() == StatusCode::UNIMPLEMENTED);
}

// A reviewer that does not answer before it may.
class SlowReviewer final : public server::AccessReview {
 public:
  base::Result<std::optional<server::User>> Authenticate(std::string_view) override {
    std::call_once(first_, [this] { asked_.set_value(); });  // the next call may find no answer kept, and ask again
    answers_.wait();
    return server::User{"admin", "", {}, {}};
  }
  base::Result<bool> Authorize(const server::User&, std::string_view, std::string_view) override { return true; }
  base::Result<bool> AuthorizeResource(const server::User&, const server::ResourceAccess&) override { return true; }

  std::promise<void> asked_, may_answer_;

 private:
  std::once_flag first_;
  const std::shared_future<void> answers_ = may_answer_.get_future().share();
};

TEST_CASE("a call whose deadline has passed fails, and the server goes on") {
  SlowReviewer slow;  // goes after the server that asks it
  Rig rig;
  rig.stage.Show(Waiting("default", "x", 0, 1));
  rig.desk = std::make_unique<doors::Desk>(rig.stage, rig.clock);
  auto started = GrpcServer::Start(rig.options, *rig.desk, rig.clock, &slow);
  REQUIRE(started);
  rig.server = *std::move(started);
  const auto decisions = rig.Decisions();
  const auto context = As("admin");
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  v1::ListGangsResponse response;
  CHECK(decisions->List(context.get(), {}, &response).error_code() == StatusCode::DEADLINE_EXCEEDED);
  slow.asked_.get_future().wait();
  slow.may_answer_.set_value();
  CHECK(List(*decisions, "admin").first.ok());
}

TEST_CASE("streams beyond the most of a user are refused, and closed ones make room") {
  Rig rig;
  rig.Start();
  const auto decisions = rig.Decisions();
  std::vector<std::unique_ptr<Watch>> open;
  for (int i = 0; i < GrpcServer::kMostStreamsEach; ++i) {
    open.push_back(std::make_unique<Watch>(*decisions, "admin"));
    open.back()->Next();
  }
  CHECK(Watch(*decisions, "admin").End().error_code() == StatusCode::RESOURCE_EXHAUSTED);
  CHECK(Watch(*decisions, "prometheus").Goes());
  CHECK(List(*decisions, "admin").first.ok());
  open.pop_back();
  while (!Watch(*decisions, "admin").Goes()) {
  }
}

// Calls a method as admin, and does not read what it is answered.
class DeafCaller {
 public:
  DeafCaller(const Rig& rig, const std::string& method) : stub_(ChannelTo(rig.address())), context_(As("admin")) {
    call_ = stub_.PrepareCall(context_.get(), method, &queue_);
    call_->StartCall(nullptr);
    Await();
    call_->WriteLast(EmptyRequest(), grpc::WriteOptions(), nullptr);
    Await();
  }
  ~DeafCaller() {
    context_->TryCancel();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Await();
  }

 private:
  void Await() {
    void* tag = nullptr;
    bool well = false;
    queue_.Next(&tag, &well);
  }

  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// Lets time pass until `well`, but not the hour after which a stream ends by itself.
template <typename Condition>
void AwaitWithinTheHour(server::SkippingClock& clock, Condition well) {
  for (int i = 0; !well(); ++i)
    if (i < 600) clock.Skip(5'000);
}

// Some of these are more than is sent ahead to a reader that takes nothing.
observe::Decision LargeGang(int number = 0) {
  observe::Decision large = Waiting("monitoring", fmt::format("large-{}", number), 0, 1);
  large.message = std::string(2 << 20, 'm');
  return large;
}

TEST_CASE("a stream whose reader takes nothing for a minute is cut off") {
  Rig rig;
  rig.Start();
  const auto decisions = rig.Decisions();
  std::vector<std::unique_ptr<DeafCaller>> deaf;
  for (int i = 0; i < GrpcServer::kMostStreamsEach; ++i)
    deaf.push_back(std::make_unique<DeafCaller>(rig, "/tutti.v1.Decisions/Watch"));
  while (Watch(*decisions, "admin").Goes()) {  // until all of them are open
  }
  Watch other(*decisions, "prometheus");
  for (int i = 0; i < 12; ++i) rig.stage.Show(LargeGang(i));
  while (!other.Next().has_gang()) {  // until they are told of the gang
  }
  AwaitWithinTheHour(rig.clock, [&] { return Watch(*decisions, "admin").Goes(); });
}

TEST_CASE("a call without a deadline ends after a minute") {
  SlowReviewer slow;
  Rig rig;
  rig.desk = std::make_unique<doors::Desk>(rig.stage, rig.clock);
  auto started = GrpcServer::Start(rig.options, *rig.desk, rig.clock, &slow);
  REQUIRE(started);
  rig.server = *std::move(started);
  const auto decisions = rig.Decisions();
  auto status = std::async(std::launch::async, [&] { return List(*decisions, "admin").first.error_code(); });
  slow.asked_.get_future().wait();
  rig.clock.Skip(GrpcServer::kLongestMs);
  CHECK(status.get() == StatusCode::CANCELLED);
  slow.may_answer_.set_value();
}

TEST_CASE("a server that stops ends its streams") {
  Rig rig;
  rig.Start();
  const auto decisions = rig.Decisions();
  Watch watch(*decisions, "admin");
  watch.Next();
  auto stopped = std::async(std::launch::async, [&] { rig.server.reset(); });
  CHECK_FALSE(watch.End().ok());
  stopped.get();
}

TEST_CASE("a port or TLS setting that cannot be is an error that says so") {
  Rig rig;
  rig.Start();
  server::ServerOptions options = rig.options;
  options.port = rig.server->port();
  const auto error = [&] {
    const auto started = GrpcServer::Start(options, *rig.desk, rig.clock, nullptr);
    return started ? "" : started.error().message;
  };
  CHECK(error() == "cannot listen on 127.0.0.1:" + std::to_string(options.port) +
                       ": Address already in use; choose another port with --grpc-port");
  options.port = 0;
  options.tls.least_version = TLS1_3_VERSION;
  CHECK(error().find("--tls-min-version") != std::string::npos);
  options.tls = {.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"};
  CHECK(error().find("--tls-cipher-suites") != std::string::npos);
}

}  // namespace
}  // namespace tutti::rpc
