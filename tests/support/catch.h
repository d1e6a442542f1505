// SPDX-License-Identifier: Apache-2.0
// The only place that includes the test framework: another version of it needs one edit.
#pragma once
#include <catch2/catch.hpp>
