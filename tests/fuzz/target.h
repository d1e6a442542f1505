// SPDX-License-Identifier: Apache-2.0
// A fuzz target: gives what an attacker may send to the code that reads it. The code must not crash, hang or break a
// promise that the target CHECKs.
//
//   TUTTI_FUZZ_TARGET(quantity) { ... use `input` ... }
//
// Under the preset `fuzz` each target is a libFuzzer binary. Otherwise all of them are in fuzz_test, which gives
// each target the files of its corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::fuzz {

using Run = void (*)(std::string_view input);
struct Registered {
  Registered(const char* name, Run run);
};

}  // namespace tutti::fuzz

#ifdef TUTTI_FUZZ
#define TUTTI_FUZZ_REGISTER(name)                                                   \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {         \
    tutti_fuzz_##name(std::string_view(reinterpret_cast<const char*>(data), size)); \
    return 0;                                                                       \
  }
#else
#define TUTTI_FUZZ_REGISTER(name) static const tutti::fuzz::Registered registered_##name{#name, &tutti_fuzz_##name};
#endif

#define TUTTI_FUZZ_TARGET(name)                          \
  static void tutti_fuzz_##name(std::string_view input); \
  TUTTI_FUZZ_REGISTER(name)                              \
  static void tutti_fuzz_##name(std::string_view input)
