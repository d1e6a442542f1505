// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins the Kueue that Tutti is compared with.
package tools

import (
	_ "sigs.k8s.io/kueue/cmd/kueue"
	_ "sigs.k8s.io/kueue/cmd/kueuectl"
)
