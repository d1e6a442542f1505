// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins the KubeRay operator that the walkthroughs run.
package tools

import _ "github.com/ray-project/kuberay/ray-operator"
