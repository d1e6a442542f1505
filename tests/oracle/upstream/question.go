// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
)

// A cluster, a pod that waits in it, and the configuration it is asked under.
type Question struct {
	Config  json.RawMessage `json:"config"`
	Objects []any           `json:"objects"`
	Pod     string          `json:"pod"`

	nodes      []*v1.Node
	pods       []*v1.Pod
	namespaces []*v1.Namespace
	budgets    []*policy.PodDisruptionBudget
	pod        *v1.Pod
	storage    Storage
	selections Selections
}

// Selections: what selects pods.
type Selections struct {
	services               []*v1.Service
	replicationControllers []*v1.ReplicationController
	replicaSets            []*appsv1.ReplicaSet
	statefulSets           []*appsv1.StatefulSet
}

func (s *Selections) fill(f informers.SharedInformerFactory) {
	for _, o := range s.services {
		_ = f.Core().V1().Services().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.replicationControllers {
		_ = f.Core().V1().ReplicationControllers().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.replicaSets {
		_ = f.Apps().V1().ReplicaSets().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.statefulSets {
		_ = f.Apps().V1().StatefulSets().Informer().GetIndexer().Add(o)
	}
}

func (q *Question) add(object any) { q.Objects = append(q.Objects, object) }
