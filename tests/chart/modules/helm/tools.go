// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools pins the Helm that renders and installs the chart in its tests.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
