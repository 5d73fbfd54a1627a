{{/* Egress rules of a NetworkPolicy. */}}
{{- define "pipeline.egressDns" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end -}}

{{- define "pipeline.egressDatabase" -}}
- ports:
    {{- range .Values.networkPolicy.database.ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with .Values.networkPolicy.database.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The version-control host, login providers, alert channels: host names, which a NetworkPolicy cannot express. */}}
{{- define "pipeline.egressHttps" -}}
- ports:
    - { port: 443, protocol: TCP }
{{- end -}}

{{/* Who may reach the port of the metrics; nobody without `metricsFrom`. */}}
{{- define "pipeline.ingressMetrics" -}}
{{- with .Values.networkPolicy.metricsFrom }}
- ports:
    - { port: metrics, protocol: TCP }
  from:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}
