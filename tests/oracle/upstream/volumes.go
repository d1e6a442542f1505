// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
)

// Storage is what a question says about volumes.
type Storage struct {
	claims      []*v1.PersistentVolumeClaim
	volumes     []*v1.PersistentVolume
	classes     []*storage.StorageClass
	csiNodes    []*storage.CSINode
	drivers     []*storage.CSIDriver
	capacities  []*storage.CSIStorageCapacity
	attachments []*storage.VolumeAttachment
}

// fill puts the question's objects where upstream's listers look.
func (s *Storage) fill(f informers.SharedInformerFactory) {
	for _, o := range s.claims {
		_ = f.Core().V1().PersistentVolumeClaims().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.volumes {
		_ = f.Core().V1().PersistentVolumes().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.classes {
		_ = f.Storage().V1().StorageClasses().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.csiNodes {
		_ = f.Storage().V1().CSINodes().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.drivers {
		_ = f.Storage().V1().CSIDrivers().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.capacities {
		_ = f.Storage().V1().CSIStorageCapacities().Informer().GetIndexer().Add(o)
	}
	for _, o := range s.attachments {
		_ = f.Storage().V1().VolumeAttachments().Informer().GetIndexer().Add(o)
	}
}

const ebs = "ebs.csi.aws.com"

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// storage adds classes, volumes, claims and the rest to a question of so many nodes.
func (g *Generator) storage(q *Question, nodes int) {
	s := &q.storage
	for _, name := range []string{"local", "wait", "now", "ebs"} {
		mode := storage.VolumeBindingWaitForFirstConsumer
		if name == "now" || g.oneIn(12) {
			mode = storage.VolumeBindingImmediate
		}
		class := &storage.StorageClass{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
			ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode, Provisioner: pick(g, "csi.example.com", "other.example.com")}
		switch name {
		case "local":
			class.Provisioner = "kubernetes.io/no-provisioner"
		case "ebs":
			class.Provisioner = pick(g, ebs, "kubernetes.io/aws-ebs", "kubernetes.io/vsphere-volume")
		}
		if name != "local" && g.oneIn(3) {
			term := v1.TopologySelectorTerm{}
			if !g.oneIn(6) {
				term.MatchLabelExpressions = []v1.TopologySelectorLabelRequirement{{Key: "topology.kubernetes.io/zone", Values: []string{pick(g, "z1", "z2"), pick(g, "z2", "z3")}}}
			}
			class.AllowedTopologies = append(class.AllowedTopologies, term)
			if g.oneIn(3) {
				class.AllowedTopologies = append(class.AllowedTopologies, v1.TopologySelectorTerm{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "disk", Values: []string{"ssd"}}}})
			}
		}
		if !g.oneIn(25) {
			s.classes = append(s.classes, class)
			q.add(class)
		}
	}
	for i := range 3 + g.below(8) {
		volume := g.volume(i, nodes)
		s.volumes = append(s.volumes, volume)
		q.add(volume)
	}
	for i := range 8 {
		claim := g.claim(fmt.Sprintf("claim-%d", i), pick(g, "default", "default", "other"), nodes)
		g.bind(claim, s.volumes)
		s.claims = append(s.claims, claim)
		q.add(claim)
	}
	for _, name := range []string{"csi.example.com", "other.example.com", ebs} {
		if !g.oneIn(3) {
			counts := !g.oneIn(3)
			driver := &storage.CSIDriver{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIDriver"}, ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: storage.CSIDriverSpec{StorageCapacity: &counts}}
			s.drivers = append(s.drivers, driver)
			q.add(driver)
		}
	}
	for i := range g.below(6) {
		capacity := &storage.CSIStorageCapacity{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIStorageCapacity"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("capacity-%d", i), Namespace: "default"}, StorageClassName: pick(g, "wait", "ebs", "local")}
		if !g.oneIn(6) {
			capacity.NodeTopology = &metav1.LabelSelector{}
			if !g.oneIn(3) {
				capacity.NodeTopology.MatchLabels = map[string]string{"topology.kubernetes.io/zone": pick(g, "z1", "z2", "z3")}
			}
		}
		if !g.oneIn(6) {
			capacity.Capacity = quantity(pick(g, "1Gi", "3Gi", "100Gi"))
		}
		if g.oneIn(3) {
			capacity.MaximumVolumeSize = quantity(pick(g, "1Gi", "3Gi"))
		}
		s.capacities = append(s.capacities, capacity)
		q.add(capacity)
	}
	for i := range nodes {
		if g.oneIn(3) {
			continue
		}
		node := &storage.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
		for _, name := range []string{"csi.example.com", ebs} {
			driver := storage.CSINodeDriver{Name: name, NodeID: "n"}
			if !g.oneIn(4) {
				count := int32(g.below(4))
				driver.Allocatable = &storage.VolumeNodeResources{Count: &count}
			}
			node.Spec.Drivers = append(node.Spec.Drivers, driver)
		}
		s.csiNodes = append(s.csiNodes, node)
		q.add(node)
		if g.oneIn(4) {
			volume := fmt.Sprintf("volume-%d", g.below(12))
			attachment := &storage.VolumeAttachment{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "VolumeAttachment"},
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("attachment-%d", i)},
				Spec:       storage.VolumeAttachmentSpec{Attacher: pick(g, "csi.example.com", ebs), NodeName: node.Name, Source: storage.VolumeAttachmentSource{PersistentVolumeName: &volume}}}
			s.attachments = append(s.attachments, attachment)
			q.add(attachment)
		}
	}
}

// Sizes differ from volume to volume: of equal ones upstream takes any.
func (g *Generator) volume(i, nodes int) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("volume-%d", i), Labels: map[string]string{}}}
	volume.Spec.Capacity = v1.ResourceList{v1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dMi", 1000*(1+g.below(8))+i))}
	volume.Spec.StorageClassName = pick(g, "local", "local", "local", "wait", "ebs", "")
	volume.Spec.AccessModes = pick(g, []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce, v1.ReadOnlyMany}, []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod, v1.ReadWriteOnce})
	if g.oneIn(8) {
		block := v1.PersistentVolumeBlock
		volume.Spec.VolumeMode = &block
	}
	volume.Status.Phase = pick(g, v1.VolumeAvailable, v1.VolumeAvailable, v1.VolumeAvailable, v1.VolumeAvailable, v1.VolumePending, v1.VolumeReleased)
	switch g.below(4) {
	case 0:
		volume.Spec.NodeAffinity = g.volumeNodes("kubernetes.io/hostname", fmt.Sprintf("node-%d", g.below(max(nodes, 1))), fmt.Sprintf("node-%d", g.below(max(nodes, 1))))
	case 1:
		volume.Spec.NodeAffinity = g.volumeNodes("topology.kubernetes.io/zone", pick(g, "z1", "z2"), pick(g, "z2", "z3"))
	}
	switch g.below(5) {
	case 0:
		volume.Labels[pick(g, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")] = pick(g, "z1", "z2", "z1__z2", "z1__", "z2 __ z3")
	case 1:
		volume.Labels["topology.kubernetes.io/region"] = pick(g, "r1", "r2")
	}
	if g.oneIn(3) {
		volume.Labels["tier"] = pick(g, "a", "b")
	}
	switch g.below(6) {
	case 0, 1, 2:
		volume.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: pick(g, "csi.example.com", ebs), VolumeHandle: fmt.Sprintf("vol-%d", i)}
	case 3:
		volume.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g, fmt.Sprintf("vol-0000000%d", i%10), fmt.Sprintf("aws://z1/vol-0000000%d", i%10))}
	case 4:
		volume.Spec.Local = &v1.LocalVolumeSource{Path: "/mnt"}
	case 5:
		volume.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: fmt.Sprintf("pd-%d", i)}
	}
	if g.oneIn(15) {
		deleted := metav1.Unix(1_700_000_000, 0)
		volume.DeletionTimestamp = &deleted
	}
	return volume
}

func (g *Generator) volumeNodes(key string, values ...string) *v1.VolumeNodeAffinity {
	term := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}}}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}}
}

func (g *Generator) claim(name, ns string, nodes int) *v1.PersistentVolumeClaim {
	claim := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: types.UID("uid-" + ns + "-" + name), Annotations: map[string]string{}}}
	class := pick(g, "local", "local", "local", "local", "wait", "wait", "wait", "wait", "wait", "ebs", "ebs", pick(g, "now", "", "wait"))
	switch g.below(20) {
	case 0:
		claim.Annotations["volume.beta.kubernetes.io/storage-class"] = class
	case 1:
	default:
		claim.Spec.StorageClassName = &class
	}
	claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{pick(g, v1.ReadWriteOnce, v1.ReadWriteOnce, v1.ReadWriteOnce, v1.ReadOnlyMany, v1.ReadWriteOncePod)}
	if !g.oneIn(10) {
		claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse(pick(g, "1Gi", "2Gi", "5Gi"))}
	}
	if g.oneIn(8) {
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(g, "a", "b")}}
	}
	if g.oneIn(12) {
		block := v1.PersistentVolumeBlock
		claim.Spec.VolumeMode = &block
	}
	if g.oneIn(12) {
		claim.Annotations["volume.kubernetes.io/selected-node"] = fmt.Sprintf("node-%d", g.below(max(nodes, 1)))
	}
	if g.oneIn(50) {
		deleted := metav1.Unix(1_700_000_000, 0)
		claim.DeletionTimestamp = &deleted
	}
	return claim
}

// bind says of the claim that it has, will have or had a volume; of the volume, sometimes, that it is the claim's.
func (g *Generator) bind(claim *v1.PersistentVolumeClaim, volumes []*v1.PersistentVolume) {
	volume := pick(g, volumes...)
	switch g.below(5) {
	case 0, 1:
		claim.Spec.VolumeName = volume.Name
		claim.Status.Phase = v1.ClaimBound
		claim.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
		switch g.below(20) {
		case 0:
			delete(claim.Annotations, "pv.kubernetes.io/bind-completed")
		case 1, 2, 3, 5, 6, 7:
			claim.Spec.VolumeName = "gone"
		case 4:
			claim.Status.Phase = v1.ClaimLost
		}
	case 2:
		if volume.Spec.ClaimRef == nil && g.oneIn(2) {
			volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name}
			if g.oneIn(2) {
				volume.Spec.ClaimRef.UID = pick(g, claim.UID, claim.UID, "another")
			}
		}
	}
}

// podVolumes gives a pod disks and claims, and adds the claims that its ephemeral volumes have.
func (g *Generator) podVolumes(q *Question, pod *v1.Pod, asked bool, nodes int) {
	for i := range g.below(3) {
		volume := v1.Volume{Name: fmt.Sprintf("v%d", i)}
		switch g.below(10) {
		case 0:
			volume.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: pick(g, "pd-1", "pd-2"), ReadOnly: g.oneIn(2)}
		case 1:
			volume.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g, "vol-00000001", "vol-00000002")}
		case 2:
			volume.ISCSI = &v1.ISCSIVolumeSource{IQN: pick(g, "iqn-1", "iqn-2"), ReadOnly: g.oneIn(2)}
		case 3:
			volume.RBD = &v1.RBDVolumeSource{CephMonitors: []string{pick(g, "m1", "m2"), pick(g, "m2", "m3")}, RBDPool: "p", RBDImage: pick(g, "i1", "i2"), ReadOnly: g.oneIn(2)}
		case 4:
			volume.Image = &v1.ImageVolumeSource{Reference: pick(g, "ray:2.9", "tool", "other:1")}
		case 5:
			volume.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{}}
			if !g.oneIn(5) {
				claim := g.claim(pod.Name+"-"+volume.Name, pod.Namespace, nodes)
				controller := true
				claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &controller}}
				// Without VolumeBinding, which refuses such a pod, upstream has an error and no answer.
				if asked && g.oneIn(6) && !strings.Contains(string(q.Config), "VolumeBinding") {
					claim.OwnerReferences[0].UID = "another"
				}
				if len(q.storage.volumes) > 0 {
					g.bind(claim, q.storage.volumes)
				}
				q.storage.claims = append(q.storage.claims, claim)
				q.add(claim)
			}
		default:
			name := fmt.Sprintf("claim-%d", g.below(8))
			if mine := g.claimsOf(q, pod.Namespace); len(mine) > 0 && !g.oneIn(16) {
				name = pick(g, mine...)
			}
			if names(pod, name) {
				continue // deliberately different: see docs/plugins.md
			}
			volume.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
	}
}

func names(pod *v1.Pod, claim string) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim {
			return true
		}
	}
	return false
}

func (g *Generator) claimsOf(q *Question, ns string) (names []string) {
	for _, claim := range q.storage.claims {
		if claim.Namespace == ns && len(claim.OwnerReferences) == 0 {
			names = append(names, claim.Name)
		}
	}
	return names
}

// volumeKinds says what the asked pod's volumes are, for the coverage.
func (q *Question) volumeKinds() (kinds []string) {
	for _, volume := range q.pod.Spec.Volumes {
		switch {
		case volume.GCEPersistentDisk != nil, volume.AWSElasticBlockStore != nil, volume.ISCSI != nil, volume.RBD != nil:
			kinds = append(kinds, "a disk")
		case volume.PersistentVolumeClaim != nil:
			for _, claim := range q.storage.claims {
				if claim.Namespace != q.pod.Namespace || claim.Name != volume.PersistentVolumeClaim.ClaimName {
					continue
				}
				switch {
				case claim.Spec.VolumeName != "":
					kinds = append(kinds, "a claim that is bound")
				case claim.Spec.StorageClassName != nil && *claim.Spec.StorageClassName == "local":
					kinds = append(kinds, "a claim that gets a volume")
				default:
					kinds = append(kinds, "a claim that gets a new volume")
				}
			}
		}
	}
	return kinds
}
