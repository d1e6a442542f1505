// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <fstream>

#include "rig.h"

namespace tutti::server {
namespace {

const base::SystemClock kClock;

base::Result<std::unique_ptr<Server>> Start(const ServerOptions& options, Pages pages, AccessReview* review,
                                            ClientAuthorities::ReadTrust client_trust = {}) {
  return Server::Start(options, std::move(pages), kClock, review, std::move(client_trust));
}

// A fresh pair under `common_name`, put in place by renames, as a Secret's update does.
void WritePair(const CertificateFiles& files, const std::string& common_name) {
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=" + common_name +
      " -keyout " + files.key + ".new -out " + files.cert + ".new 2>/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  std::filesystem::rename(files.key + ".new", files.key);
  std::filesystem::rename(files.cert + ".new", files.cert);
}

std::string CommonNameServed(int port) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new_ssl_connect(context.get()), BIO_free_all);
  BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  REQUIRE(BIO_do_connect(bio.get()) == 1);
  SSL* ssl = nullptr;
  BIO_get_ssl(bio.get(), &ssl);
  const std::unique_ptr<X509, decltype(&X509_free)> cert(SSL_get1_peer_certificate(ssl), X509_free);
  REQUIRE(cert != nullptr);
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(cert.get()), NID_commonName, name, sizeof name);
  return name;
}

TEST_CASE("health is open to all, and says which check failed") {
  std::string problem = "nodes are not synced";
  Reviewer reviewer;
  const auto server = Start(OnLoopback(), SomePages(&problem), &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  CHECK(Get(port, "/livez")->body == "ok");
  CHECK(Get(port, "/healthz")->status == 200);
  const auto not_ready = Get(port, "/readyz");
  CHECK(not_ready->status == 500);
  CHECK(not_ready->body == "[+]ping ok\n[-]sched-handler-sync failed: nodes are not synced\nreadyz check failed\n");
  problem.clear();
  CHECK(Get(port, "/readyz")->status == 200);
  CHECK(Get(port, "/readyz?verbose")->body == "[+]ping ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
}

TEST_CASE("what is the same for every user is shown without a question about the sender, with its headers") {
  std::string problem;
  Reviewer reviewer;
  Pages pages = SomePages(&problem);
  pages.open = [](std::string_view path) -> std::optional<OpenAnswer> {
    if (path == "/open") return OpenAnswer{308, kText, "see open/\n", {{"Location", "open/"}}};
    if (path == "/open/")
      return OpenAnswer{200, "text/html", "<p>", {{"Content-Security-Policy", "default-src 'none'"}}};
    return std::nullopt;
  };
  const auto server = Start(OnLoopback(), pages, &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  const auto moved = Get(port, "/open");
  CHECK(moved->status == 308);
  CHECK(moved->get_header_value("Location") == "open/");
  for (const char* token : {"", "no-such-token"}) {
    const auto page = Get(port, "/open/", token);
    CHECK(page->status == 200);
    CHECK(page->body == "<p>");
    CHECK(page->get_header_value("Content-Type") == "text/html");
    CHECK(page->get_header_value("X-Content-Type-Options") == "nosniff");
    CHECK(page->get_header_value("Content-Security-Policy") == "default-src 'none'");
  }
  CHECK(Get(port, "/openly")->status == 403);
}

TEST_CASE("a health check can be asked alone, and left out") {
  std::string problem = "nodes are not synced";
  Reviewer reviewer;
  Pages pages = SomePages(&problem);
  std::vector<std::string> asked;
  pages.on_check = [&asked](std::string_view path, std::string_view check, bool well) {
    asked.push_back(std::string(path) + "/" + std::string(check) + (well ? " well" : " not"));
  };
  const auto server = Start(OnLoopback(), pages, &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  CHECK(Get(port, "/healthz/leaderElection", "admin")->body == "ok");
  CHECK(Get(port, "/readyz/sched-handler-sync", "admin")->status == 500);
  CHECK(Get(port, "/readyz/sched-handler-sync", "admin")->body == "internal server error: nodes are not synced\n");
  CHECK(Get(port, "/readyz/no-such-check", "admin")->status == 404);
  CHECK(Get(port, "/readyz/ping")->status == 403);  // open to all are the lists alone, as in kube-scheduler
  CHECK(asked == std::vector<std::string>{"healthz/leaderElection well", "readyz/sched-handler-sync not",
                                          "readyz/sched-handler-sync not"});
  CHECK(Get(port, "/readyz?exclude=sched-handler-sync")->status == 200);
  CHECK(Get(port, "/readyz?verbose&exclude=sched-handler-sync&exclude=x")->body ==
        "[+]ping ok\n[+]sched-handler-sync excluded: ok\nwarn: some health checks cannot be excluded: no matches for "
        "\"x\"\nreadyz check passed\n");
}

TEST_CASE("a page says which parameters it does not know, and the index lists all") {
  std::string problem;
  Reviewer reviewer;
  Pages pages = SomePages(&problem);
  pages.folders = {{"/apis/x/", [](const FolderRequest&) { return FolderAnswer{}; }}};
  pages.open_at = "/open/";
  const auto server = Start(OnLoopback(), std::move(pages), &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  const auto unknown = Get(port, "/debug/decisions?name=b&state=waiting", "admin");
  CHECK(unknown->status == 400);
  CHECK(unknown->body == "unknown parameter \"state\"; known are namespace, name\n");
  const auto missing = Get(port, "/debug/decisions?name=missing", "admin");
  CHECK(missing->status == 404);
  CHECK(missing->get_header_value("Content-Type") == kText);
  CHECK(Get(port, "/metrics?whatever=1", "admin")->status == 200);
  CHECK(Get(port, "/", "admin")->body ==
        "/healthz\n/livez\n/readyz\n/metrics\n/configz\n/debug/decisions?namespace=&name=\n/apis/x/\n/open/\n");
}

// Whether the server speaks `version` with a client that offers it alone, and `suites` of TLS 1.2 (empty: all).
bool Speaks(int port, int version, const char* suites = "") {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), version);
  SSL_CTX_set_max_proto_version(context.get(), version);
  if (*suites != '\0') SSL_CTX_set_cipher_list(context.get(), suites);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new_ssl_connect(context.get()), BIO_free_all);
  BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  return BIO_do_connect(bio.get()) == 1;
}

TEST_CASE("TLS is spoken as --tls-min-version and --tls-cipher-suites say") {
  std::string problem;
  std::vector<std::string> notes;
  ServerOptions options = OnLoopback();
  const auto plain = Start(options, SomePages(&problem), nullptr);
  REQUIRE(plain);
  CHECK(Speaks((*plain)->port(), TLS1_2_VERSION));
  CHECK(Speaks((*plain)->port(), TLS1_3_VERSION));
  options.tls = *ReadTlsChoice("VersionTLS13", {}, &notes);
  const auto newest = Start(options, SomePages(&problem), nullptr);
  REQUIRE(newest);
  CHECK_FALSE(Speaks((*newest)->port(), TLS1_2_VERSION));
  CHECK(Speaks((*newest)->port(), TLS1_3_VERSION));
  options.tls =
      *ReadTlsChoice("", {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}, &notes);
  const auto chosen = Start(options, SomePages(&problem), nullptr);
  REQUIRE(chosen);
  CHECK(Speaks((*chosen)->port(), TLS1_2_VERSION));
  CHECK_FALSE(Speaks((*chosen)->port(), TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"));
  CHECK(notes.empty());
}

TEST_CASE("a TLS flag that says nothing is named, and a weak suite is not offered") {
  std::vector<std::string> notes;
  CHECK(ReadTlsChoice("TLS1.2", {}, &notes).error().message.find("--tls-min-version: \"TLS1.2\" is not known") == 0);
  CHECK(ReadTlsChoice("", {"AES"}, &notes).error().message.find("--tls-cipher-suites: \"AES\" is not known") == 0);
  CHECK(notes.empty());
  const auto mixed = ReadTlsChoice(
      "", {"TLS_RSA_WITH_RC4_128_SHA", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_AES_128_GCM_SHA256"}, &notes);
  REQUIRE(mixed);
  CHECK(mixed->ciphers == "ECDHE-RSA-CHACHA20-POLY1305");
  CHECK(notes ==
        std::vector<std::string>{"--tls-cipher-suites: TLS_RSA_WITH_RC4_128_SHA is too weak and is not offered"});
  CHECK_FALSE(ReadTlsChoice("", {"TLS_RSA_WITH_RC4_128_SHA"}, &notes));
  CHECK(ReadTlsChoice("", {"TLS_AES_128_GCM_SHA256"}, &notes)->least_version == TLS1_3_VERSION);
}

TEST_CASE("everything else needs a user who may get the path") {
  std::string problem;
  Reviewer reviewer;
  const auto server = Start(OnLoopback(), SomePages(&problem), &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  CHECK(Get(port, "/metrics")->status == 403);
  CHECK(Get(port, "/metrics")->body == "Forbidden: user \"system:anonymous\" may not get this path\n");
  CHECK(Get(port, "/metrics", "unknown")->status == 401);
  CHECK(Get(port, "/configz", "prometheus")->status == 403);
  CHECK(Get(port, "/metrics", "down")->status == 500);
  CHECK(Get(port, "/metrics", "down")->body == "the API server could not say who this is; try again\n");
  const auto metrics = Get(port, "/metrics", "prometheus");
  CHECK(metrics->status == 200);
  CHECK(metrics->body == "tutti_up 1\n");
  CHECK(metrics->get_header_value("Content-Type").rfind("text/plain; version=0.0.4", 0) == 0);
  CHECK(Get(port, "/debug/decisions?namespace=a&name=b", "admin")->body == "[\"a/b\"]");
  CHECK(Get(port, "/nothing", "admin")->status == 404);
}

TEST_CASE("requests from the machine itself may be let in by a flag") {
  std::string problem;
  ServerOptions options = OnLoopback();
  options.always_allow_loopback = true;
  const auto server = Start(options, SomePages(&problem), nullptr);
  REQUIRE(server);
  CHECK(Get((*server)->port(), "/debug/decisions")->status == 200);
}

bool HasIpv6() {
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const int probe = socket(AF_INET6, SOCK_STREAM, 0);
  const bool has = probe >= 0 && bind(probe, reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0;
  if (probe >= 0) close(probe);
  return has;
}

TEST_CASE("by default it listens on every address, of IPv4 and of IPv6") {
  std::string ready;
  const base::SystemClock clock;
  for (const char* address : {"0.0.0.0", ""}) {
    ServerOptions options;
    options.bind_address = address;
    options.port = 0;
    options.always_allow_loopback = true;
    const auto server = Server::Start(options, SomePages(&ready), clock, nullptr);
    INFO(address);
    REQUIRE(server);
    for (const char* host : {"127.0.0.1", "::1"}) {
      if (host == std::string("::1") && !HasIpv6()) continue;
      httplib::SSLClient client(host, (*server)->port());
      client.enable_server_certificate_verification(false);
      const auto answer = client.Get("/metrics");
      INFO(host);
      REQUIRE(answer);
      CHECK(answer->status == 200);
    }
  }
}

TEST_CASE("what no page takes is refused before its body is read") {
  std::string problem;
  Reviewer reviewer;
  const auto server = Start(OnLoopback(), SomePages(&problem), &reviewer);
  REQUIRE(server);
  // A body that never comes: a server that waits for it does not answer.
  const auto status = [&](const std::string& head) {
    const TlsClient client((*server)->port());
    client.Say(head + "\r\n\r\n");
    return client.Hear().substr(0, 12);
  };
  CHECK(status("POST /livez HTTP/1.1\r\nTransfer-Encoding: chunked") == "HTTP/1.1 405");
  CHECK(status("PUT /metrics HTTP/1.1\r\nContent-Length: 1000000000") == "HTTP/1.1 405");
  CHECK(status("OPTIONS /livez HTTP/1.1") == "HTTP/1.1 405");
  CHECK(status("GET /livez HTTP/1.1\r\nTransfer-Encoding: chunked") == "HTTP/1.1 413");
  CHECK(status("GET /livez HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 7") == "HTTP/1.1 413");
  CHECK(status("GET /livez HTTP/1.1\r\nRange: bytes=0-,0-") == "HTTP/1.1 416");
  CHECK(status("GET /livez HTTP/1.1\r\nContent-Length: 0") == "HTTP/1.1 200");
  CHECK(status("HEAD /livez HTTP/1.1") == "HTTP/1.1 200");
}

TEST_CASE("an open question is answered for all, and refused before it is read where it is no JSON or too long") {
  std::string problem;
  Pages pages = SomePages(&problem);
  std::atomic<int> asked = 0;
  pages.questions = {{"/question", [&asked](std::string_view body) {
                        ++asked;
                        return body == "{}" ? PageAnswer{200, R"({"length":2})"} : PageAnswer{400, "not that\n"};
                      }}};
  const auto server = Start(OnLoopback(), pages, nullptr);
  REQUIRE(server);
  httplib::SSLClient client("127.0.0.1", (*server)->port());
  client.enable_server_certificate_verification(false);
  const auto answer = client.Post("/question?timeout=2s", "{}", kJson);
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == R"({"length":2})");
  CHECK(answer->get_header_value("Content-Type") == kJson);
  const std::string large(Server::kMostQuestion, ' ');
  CHECK(client.Post("/question", large, kJson)->status == 400);
  CHECK(asked == 2);
  // The head alone: a client that is still sending may lose the answer when the server hangs up.
  const TlsClient too_large((*server)->port());
  too_large.Say("POST /question HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2097153\r\n\r\n");
  const std::string refused = too_large.Hear();
  CHECK(refused.starts_with("HTTP/1.1 413"));
  CHECK(refused.ends_with("a question may have 2097152 bytes, and this one has 2097153\n"));
  CHECK(client.Post("/question", "{}", kText)->status == 415);
  CHECK(client.Get("/question")->status != 200);
  CHECK(client.Post("/other", "{}", kJson)->status == 405);
  CHECK(asked == 2);
}

TEST_CASE("a path may be opened by configuration, and without a reviewer nothing else is open") {
  std::string problem;
  ServerOptions options = OnLoopback();
  options.always_allow_paths.push_back("/metrics");
  const auto server = Start(options, SomePages(&problem), nullptr);
  REQUIRE(server);
  CHECK(Get((*server)->port(), "/metrics")->status == 200);
  CHECK(Get((*server)->port(), "/configz", "admin")->status == 401);
}

// A server whose certificate, of common name "first", is in files.
struct CertifiedByFiles {
  CertifiedByFiles() {
    WritePair(files, "first");
    ServerOptions options = OnLoopback();
    options.certificate = files;
    auto started = Start(options, SomePages(&problem), nullptr);
    REQUIRE(started);
    server = *std::move(started);
  }
  std::string Served() const { return CommonNameServed(server->port()); }

  TempFolder folder;
  CertificateFiles files{folder.File("tls.crt"), folder.File("tls.key")};
  std::string problem;
  std::unique_ptr<Server> server;
};

TEST_CASE("a certificate is read again when its files change, and a broken one is not taken") {
  CertifiedByFiles rig;
  CHECK(rig.Served() == "first");
  WritePair(rig.files, "second");
  CHECK(rig.Served() == "second");
  std::ofstream(rig.files.cert) << "not a certificate";
  CHECK(rig.Served() == "second");
}

// What is written to stderr while this exists goes into a file.
class CapturedLog {
 public:
  explicit CapturedLog(std::string file) : file_(std::move(file)), stderr_(dup(STDERR_FILENO)) {
    const int to = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(to, STDERR_FILENO);
    close(to);
  }
  ~CapturedLog() {
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
  }
  size_t Lines(const std::string& with) const {
    std::ifstream lines(file_);
    size_t count = 0;
    for (std::string line; std::getline(lines, line);) count += line.find(with) != std::string::npos;
    return count;
  }

 private:
  const std::string file_;
  const int stderr_;
};

TEST_CASE("a certificate that cannot be used is said once for each change of its files") {
  CertifiedByFiles rig;
  const CapturedLog log(rig.folder.File("log"));
  const auto shake_hands = [&](const char* served) {
    for (int i = 0; i < 3; ++i) CHECK(rig.Served() == served);
  };
  const auto said = [&] { return log.Lines("the new serving certificate is not usable"); };
  std::ofstream(rig.files.cert) << "not a certificate";
  shake_hands("first");
  CHECK(said() == 1);
  std::ofstream(rig.files.cert) << "no certificate either";
  shake_hands("first");
  CHECK(said() == 2);
  WritePair(rig.files, "second");
  shake_hands("second");
  CHECK(said() == 2);
}

TEST_CASE("what cannot be served is refused with the flag to change") {
  std::string problem;
  ServerOptions options = OnLoopback();
  options.certificate = {"/nowhere/tls.crt", "/nowhere/tls.key"};
  const auto unread = Start(options, SomePages(&problem), nullptr);
  REQUIRE_FALSE(unread);
  CHECK(unread.error().message == "/nowhere/tls.crt: cannot be read; is --tls-cert-file right?");

  const auto first = Start(OnLoopback(), SomePages(&problem), nullptr);
  REQUIRE(first);
  ServerOptions taken = OnLoopback();
  taken.port = (*first)->port();
  const auto second = Start(taken, SomePages(&problem), nullptr);
  REQUIRE_FALSE(second);
  CHECK(second.error().message.find("Address already in use") != std::string::npos);

  ServerOptions nowhere = OnLoopback();
  nowhere.bind_address = "no address";
  const auto third = Start(nowhere, SomePages(&problem), nullptr);
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("cannot listen on no address:") == 0);
  CHECK(third.error().message.find("Success") == std::string::npos);
}

// Says the numbers from 1 on, one a piece.
class Counting final : public Stream {
 public:
  explicit Counting(int last) : last_(last) {}
  std::optional<std::string> Next(std::chrono::milliseconds) override {
    if (said_ == last_) return std::nullopt;
    return fmt::format("{}\n", ++said_);
  }

 private:
  const int last_;
  int said_ = 0;
};

Pages WithFolder() {
  Pages pages;
  pages.folders = {{"/apis/x/", [](const FolderRequest& request) {
                      if (request.path == "/apis/x/count") {
                        FolderAnswer counting;
                        counting.type = kEvents;
                        counting.stream = std::make_shared<Counting>(3);
                        return counting;
                      }
                      const auto may = request.rights->MayListPods("monitoring");
                      if (request.path == "/apis/x/busy") return FolderAnswer{503, "{}"};
                      if (!may || !*may) return FolderAnswer{403, "no", kText};
                      return FolderAnswer{200, request.rights->user() + request.path};
                    }}};
  return pages;
}

TEST_CASE("a folder answers every user by its rights") {
  Reviewer reviewer;
  const auto server = Start(OnLoopback(), WithFolder(), &reviewer);
  REQUIRE(server);
  const int port = (*server)->port();
  const auto answer = Get(port, "/apis/x/y%20z", "prometheus");
  CHECK(answer->status == 200);
  CHECK(answer->body == "prometheus/apis/x/y z");
  CHECK(answer->get_header_value("Content-Type") == kJson);
  CHECK(answer->get_header_value("X-Content-Type-Options") == "nosniff");
  CHECK(Get(port, "/apis/x/y")->status == 403);
  CHECK(Get(port, "/apis/x/y")->get_header_value("Content-Type") == kText);
  CHECK(Get(port, "/apis/x/busy")->get_header_value("Content-Type") == kJson);
  CHECK(Get(port, "/apis/x/busy")->get_header_value("Retry-After") == "1");
  CHECK(Get(port, "/apis/x/y", "unknown")->status == 401);
  CHECK(Get(port, "/apis/x/y", "down")->status == 500);
  CHECK(Get(port, "/apis/other", "prometheus")->status == 403);
  httplib::SSLClient proxied("127.0.0.1", port);
  proxied.enable_server_certificate_verification(false);
  CHECK(proxied.Get("/apis/x/y", {{"X-Tutti-Authorization", "Bearer prometheus"}})->status == 200);
}

TEST_CASE("a stream is sent piece by piece until it ends") {
  Reviewer reviewer;
  const auto server = Start(OnLoopback(), WithFolder(), &reviewer);
  REQUIRE(server);
  const auto answer = Get((*server)->port(), "/apis/x/count", "admin");
  CHECK(answer->status == 200);
  CHECK(answer->body == "1\n2\n3\n");
  CHECK(answer->get_header_value("Content-Type") == kEvents);
}

}  // namespace
}  // namespace tutti::server
