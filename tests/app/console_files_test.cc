// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

#include "app/console.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

server::OpenAnswer Show(const std::string& path) {
  const auto answer = ShowConsole(path);
  REQUIRE(answer);
  return *answer;
}

std::string Header(const server::OpenAnswer& answer, const std::string& name) {
  const auto at = std::ranges::find(answer.headers, name, &std::pair<std::string, std::string>::first);
  return at == answer.headers.end() ? "" : at->second;
}

TEST_CASE("the console's address leads to its folder, whatever stands before it") {
  CHECK_FALSE(ShowConsole("/uix"));
  CHECK_FALSE(ShowConsole("/"));
  const server::OpenAnswer answer = Show("/ui");
  CHECK(answer.status == 308);
  CHECK(Header(answer, "Location") == "ui/");
}

TEST_CASE("every file that the console's page and modules name is in the binary") {
  const server::OpenAnswer page = Show("/ui/");
  REQUIRE(page.status == 200);
  CHECK(page.type == std::string("text/html; charset=utf-8"));
  for (const char* name : {"app.js", "worker.js", "style.css", "icon.svg", "views/gang.js"}) {
    CAPTURE(name);
    CHECK(Show(std::string("/ui/") + name).status == 200);
  }
  CHECK(Show("/ui/app.js").type == std::string("text/javascript; charset=utf-8"));
  CHECK(Show("/ui/style.css").type == std::string("text/css; charset=utf-8"));
  CHECK(Show("/ui/icon.svg").type == std::string("image/svg+xml"));
  CHECK(Show("/ui/gangs.js").body != Show("/ui/views/gangs.js").body);
}

TEST_CASE("the console may run its own scripts alone, and nothing else is shown below its address") {
  const std::string policy = Header(Show("/ui/"), "Content-Security-Policy");
  CHECK(policy.starts_with("default-src 'none'; "));
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(policy.find("http") == std::string::npos);
  CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
  for (const char* path : {"/ui/headers", "/ui/../etc/passwd", "/ui//", "/ui/views", "/ui/index.html/"}) {
    CAPTURE(path);
    CHECK(Show(path).status == 404);
  }
  const std::string page(Show("/ui/").body);
  CHECK_FALSE(std::regex_search(page, std::regex("<script>|<style|style=|\\son[a-z]+=")));
}

}  // namespace
}  // namespace tutti::app
