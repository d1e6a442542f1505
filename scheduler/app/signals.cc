// SPDX-License-Identifier: Apache-2.0
#include "app/signals.h"

#include <pthread.h>

#include <csignal>
#include <cstdlib>

namespace tutti::app {
namespace {

sigset_t Both() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t set = Both();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

StopSignals::StopSignals(std::function<void()> on_first) {
  thread_ = std::thread([this, on_first = std::move(on_first)] {
    const sigset_t set = Both();
    for (bool first = true;; first = false) {
      int signal = 0;
      sigwait(&set, &signal);
      if (done_) return;
      if (!first) std::_Exit(1);
      on_first();
    }
  });
}

StopSignals::~StopSignals() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
}

}  // namespace tutti::app
