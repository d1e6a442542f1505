// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
)

// A cluster, a pod that waits in it, and the configuration it is asked under.
type Question struct {
	Config  json.RawMessage `json:"config"`
	Objects []any           `json:"objects"`
	Pod     string          `json:"pod"`

	nodes      []*v1.Node
	pods       []*v1.Pod
	namespaces []*v1.Namespace
	pod        *v1.Pod
	storage    Storage
}

func (q *Question) add(object any) { q.Objects = append(q.Objects, object) }
