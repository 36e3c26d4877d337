{{/* Labels of every object of the chart. */}}
{{- define "aicr-operator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The operator as the API server names it. Policies hold it as a literal: a parameter could be changed or lost. */}}
{{- define "aicr-operator.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:aicr-operator
{{- end }}

{{/*
The garbage collector: its own identity where controllers have one each (kubeadm and the cloud providers), otherwise
that of the controller manager.
*/}}
{{- define "aicr-operator.garbageCollectors" -}}
['system:serviceaccount:kube-system:generic-garbage-collector', 'system:kube-controller-manager']
{{- end }}

{{/* Subjects of both approver bindings; empty without approvers. */}}
{{- define "aicr-operator.approverSubjects" -}}
{{- range .Values.approvers.users }}
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: {{ . | quote }}
{{- end }}
{{- range .Values.approvers.groups }}
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: {{ . | quote }}
{{- end }}
{{- end }}
