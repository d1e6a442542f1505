// SPDX-License-Identifier: Apache-2.0
// The one include of the test framework, so that another version is one edit.
#pragma once
#include <catch2/catch.hpp>
