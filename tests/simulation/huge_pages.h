// SPDX-License-Identifier: Apache-2.0
// For programs that simulate many worlds, linked with mimalloc as bin/tutti is.
#pragma once

#include <mimalloc.h>

namespace tutti::simulation {

// A world in memory is a page fault for every 4 KiB, a tenth of its run; and what one has freed it soon takes again.
inline void UseHugePages() {
  mi_option_enable(mi_option_large_os_pages);
  mi_option_disable(mi_option_allow_decommit);
}

}  // namespace tutti::simulation
