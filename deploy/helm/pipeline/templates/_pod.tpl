{{/* Reference of an image; a digest wins over a tag. Arguments: root, image. */}}
{{- define "pipeline.image" -}}
{{- $repository := .image.repository -}}
{{- with .root.Values.image.registry -}}{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}{{- end -}}
{{- if .image.digest -}}
{{ $repository }}@{{ .image.digest }}
{{- else -}}
{{ $repository }}:{{ .image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* What the pods of all components share. Arguments: root, component, values. */}}
{{- define "pipeline.podSpec" -}}
# The services do not use the API of Kubernetes.
automountServiceAccountToken: false
# The variables of other Services would be taken for settings of the processes.
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.scheduling }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Pods of one revision on different nodes and zones, as far as there are some. Arguments: root, component. */}}
{{- define "pipeline.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "pipeline.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end -}}

{{/* Security of a pod whose image has the user node. */}}
{{- define "pipeline.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  # The files of secrets are readable for this group only.
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "pipeline.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/*
Entries of `env`: settings, and for each secret the name of its file. Numbers of values files are floating-point, which
would print large ones with an exponent. Arguments: env, secrets.
*/}}
{{- define "pipeline.env" -}}
{{- range $name, $value := .env }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ ternary (printf "%.0f" (float64 $value)) (toString $value) (kindIs "float64" $value) | quote }}
{{- end }}
{{- end }}
{{- range $name, $reference := .secrets }}
{{- if $reference }}
- name: {{ $name }}_FILE
  value: /run/secrets/pipeline/{{ $name }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Volume with one file for each secret, named by its variable. Arguments: secrets. */}}
{{- define "pipeline.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 288 # 0440 in octal
    sources:
      {{- range $name, $reference := .secrets }}
      {{- if $reference }}
      - secret:
          name: {{ $reference.name }}
          items: [{ key: {{ $reference.key | quote }}, path: {{ $name }} }]
      {{- end }}
      {{- end }}
{{- end -}}

{{/*
Settings of a service: those of the chart, which the values override. Arguments: root, values, own. METRICS_HOST: the
network policy decides who reaches the port. TRUSTED_PROXIES: the ingress controller is one.
*/}}
{{- define "pipeline.serviceEnv" -}}
{{- $env := .own -}}
{{- if .values.ingress.enabled }}{{- $_ := set $env "TRUSTED_PROXIES" 1 -}}{{- end -}}
{{- $_ := set $env "METRICS_PORT" 9090 -}}
{{- $_ := set $env "METRICS_HOST" "0.0.0.0" -}}
{{- with include "pipeline.monitorUrl" .root }}{{- $_ := set $env "MONITOR_URL" . -}}{{- end -}}
{{- include "pipeline.env" (dict "env" (mergeOverwrite $env .values.env) "secrets" .values.secrets) -}}
{{- end -}}

{{/* Liveness never depends on the database: a restart does not repair it. Arguments: readiness, the path. */}}
{{- define "pipeline.probes" -}}
startupProbe:
  httpGet: { path: /health, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: {{ .readiness }}, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
# Requests arrive until every proxy has removed the pod; a process that gets SIGTERM closes its port.
lifecycle:
  preStop:
    sleep: { seconds: {{ .preStop }} }
{{- end -}}
