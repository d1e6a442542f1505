// SPDX-License-Identifier: Apache-2.0
#include "observe/published.h"

#include <atomic>
#include <thread>

#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the latest view is what was published last, and nothing before") {
  Published<int> view;
  CHECK(view.Latest() == nullptr);
  view.Publish(std::make_shared<const int>(1));
  view.Publish(std::make_shared<const int>(2));
  CHECK(*view.Latest() == 2);
  CHECK_FALSE(view.wanted());
}

TEST_CASE("a fresh view is made after it was asked for") {
  Published<int> view;
  view.Publish(std::make_shared<const int>(1));
  std::atomic<bool> woken = false;
  std::thread owner([&] {
    woken.wait(false);
    CHECK(view.wanted());
    view.Publish(std::make_shared<const int>(2));
  });
  const auto fresh = view.Fresh(10s, [&] {
    woken = true;
    woken.notify_one();
  });
  owner.join();
  CHECK(*fresh == 2);
  CHECK_FALSE(view.wanted());
}

TEST_CASE("a reader that asks while a view is being made waits for the next") {
  Published<int> view;
  CHECK(view.Fresh(1ms, [] {}) == nullptr);
  const uint64_t request = view.wanted();
  CHECK(view.Fresh(1ms, [] {}) == nullptr);
  view.Publish(std::make_shared<const int>(1), request);
  CHECK(view.wanted() != 0);
  view.Publish(std::make_shared<const int>(2), view.wanted());
  CHECK(view.wanted() == 0);
}

TEST_CASE("what took long to make and was replaced is freed by a reader") {
  Published<int> view;
  const auto first = std::make_shared<const int>(1);
  view.Publish(first, view.wanted());
  view.Publish(std::make_shared<const int>(2), view.wanted());
  CHECK(first.use_count() == 2);
  view.Fresh(1ms, [] {});
  CHECK(first.use_count() == 1);
}

TEST_CASE("an owner that does not answer leaves the latest view") {
  Published<int> view;
  view.Publish(std::make_shared<const int>(1));
  CHECK(*view.Fresh(1ms, [] {}) == 1);
  CHECK(view.wanted());
}

}  // namespace
}  // namespace tutti::observe
