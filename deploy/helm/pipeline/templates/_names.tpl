{{/* Prefix of the names of all objects. Short enough for the longest suffix within 63 characters. */}}
{{- define "pipeline.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component; they must never change. Arguments: root, component. */}}
{{- define "pipeline.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of an object. Arguments: root, component. */}}
{{- define "pipeline.labels" -}}
{{ include "pipeline.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: pipeline
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Name, namespace and labels of an object. Arguments: root, component. */}}
{{- define "pipeline.metadata" -}}
name: {{ include "pipeline.fullname" .root }}-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "pipeline.labels" . | nindent 2 }}
{{- end -}}

{{- define "pipeline.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "pipeline.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Public address of the hosted API; empty = the default of the service, which serves this machine alone. */}}
{{- define "pipeline.publicUrl" -}}
{{- with .Values.hostedApi -}}
{{- if .publicUrl -}}{{ .publicUrl }}{{- else if .ingress.enabled -}}https://{{ .ingress.host }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Public address of the monitor; empty = unknown. */}}
{{- define "pipeline.monitorUrl" -}}
{{- with .Values.monitor -}}
{{- if .publicUrl -}}{{ .publicUrl }}{{- else if .ingress.enabled -}}https://{{ .ingress.host }}{{- end -}}
{{- end -}}
{{- end -}}
