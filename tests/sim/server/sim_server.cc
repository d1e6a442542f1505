// SPDX-License-Identifier: Apache-2.0
// The embedded API server alone, for tests that drive it through kubectl. Serves until its standard input ends.
//
//   sim_server KUBECONFIG [MANIFEST...]
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/api/http_server.h"
#include "sim/manifests/manifest.h"
#include "sim/store/door.h"
#include "sim/store/store.h"

int main(int argc, char** argv) {
  using namespace tutti;
  if (argc < 2) {
    std::fprintf(stderr, "usage: sim_server KUBECONFIG [MANIFEST...]\n");
    return 2;
  }
  base::SystemClock clock;
  sim::Store store(clock);
  const auto manifests = sim::LoadManifests(std::vector<std::string>(argv + 2, argv + argc));
  const base::Status stored =
      manifests ? sim::StoreManifests(store, *manifests) : tl::make_unexpected(manifests.error());
  sim::Door door(store);
  sim::HttpServer server(door);
  const base::Status started = stored ? server.Start("127.0.0.1", 0) : stored;
  if (!started) {
    std::fprintf(stderr, "sim_server: %s\n", started.error().message.c_str());
    return 1;
  }
  std::ofstream(argv[1]) << sim::KubeconfigFor(server.url());
  std::printf("%s\n", server.url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  server.Stop();
  return 0;
}
