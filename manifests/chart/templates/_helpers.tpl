{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "tutti.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tutti.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "tutti.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "tutti.priorityClass" -}}
{{- .Values.priorityClass.name | default (ternary (include "tutti.fullname" .) "" .Values.priorityClass.create) -}}
{{- end -}}

{{- define "tutti.image" -}}
{{- $at := ternary (printf "@%s" .Values.image.digest) (printf ":%s" (default .Chart.AppVersion .Values.image.tag)) (ne .Values.image.digest "") -}}
{{- print .Values.image.repository $at -}}
{{- end -}}

{{- /* The text of a shipped manifest, `file`, with the names and the namespace of this release. */ -}}
{{- define "tutti.shipped" -}}
{{- $full := include "tutti.fullname" .root -}}
{{- $account := include "tutti.serviceAccount" .root -}}
{{- $text := .root.Files.Get .file | required (printf "the chart has no file %s" .file) -}}
{{- $text = $text | replace "tutti-system" .root.Release.Namespace -}}
{{- $text = regexReplaceAll "app.kubernetes.io/name: tutti\\b" $text (printf "app.kubernetes.io/name: tutti, app.kubernetes.io/instance: %s" .root.Release.Name) -}}
{{- $text = regexReplaceAll "(kind: ServiceAccount, name|serviceAccount: .name|serviceAccountName): tutti\\b" $text "${1}: @account" -}}
{{- $text = regexReplaceAll "([ {](?:name|policyName)): tutti([-a-z]*)" $text (printf "${1}: %s${2}" $full) -}}
{{- $text = regexReplaceAll "resourceNames: .tutti." $text (printf "resourceNames: [%s]" $full) -}}
{{- $text | replace "@account" $account -}}
{{- end -}}

{{- /* One object, `it`, with the labels of this release. */ -}}
{{- define "tutti.labelled" -}}
{{- $labels := dict "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version) "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/version" .root.Chart.AppVersion -}}
{{- $own := .it.metadata.labels | default dict -}}
{{- $_ := set .it.metadata "labels" (merge (dict) .root.Values.commonLabels $own $labels) -}}
{{- toYaml .it -}}
{{- end -}}

{{- /* The whole configuration, as `tutti run --config` reads it. */ -}}
{{- define "tutti.config" -}}
{{- $shipped := include "tutti.shipped" (dict "root" . "file" "files/deploy/40-config.yaml") | fromYaml -}}
{{- $both := splitList "\n---\n" (index $shipped.data "config.yaml") -}}
{{- $upstream := index $both 0 | fromYaml -}}
{{- $ours := index $both 1 | fromYaml -}}
{{- $_ := set $upstream.leaderElection "resourceName" (include "tutti.fullname" .) -}}
{{- $_ := set $upstream.leaderElection "resourceNamespace" .Release.Namespace -}}
{{- $profiles := list -}}
{{- range .Values.schedulerNames -}}
{{- $profiles = append $profiles (dict "schedulerName" .) -}}
{{- end -}}
{{- $_ := set $upstream "profiles" $profiles -}}
{{- $upstream = mergeOverwrite $upstream (dict "leaderElection" .Values.leaderElection) .Values.config -}}
{{- $elects := $upstream.leaderElection -}}
{{- if and .Values.rbac.create (or (ne $elects.resourceName (include "tutti.fullname" .)) (ne $elects.resourceNamespace .Release.Namespace)) -}}
{{- fail (printf "leaderElection names the Lease %s/%s, but the Role that comes with rbac.create: true is for %s/%s: leave resourceName and resourceNamespace out, or set rbac.create: false and bring a Role of your own" $elects.resourceNamespace $elects.resourceName .Release.Namespace (include "tutti.fullname" .)) -}}
{{- end -}}
{{- $ours = mergeOverwrite $ours .Values.tuttiConfig -}}
{{- toYaml $upstream }}
---
{{ toYaml $ours }}
{{- end -}}

{{- /* "true" if this release may have the object: it is not there, or it is this release's already. */ -}}
{{- define "tutti.isFree" -}}
{{- $there := lookup .it.apiVersion .it.kind "" .it.metadata.name -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" ($there | default dict) -}}
{{- if or (not $there) (eq $owner .root.Release.Name) -}}true{{- end -}}
{{- end -}}
