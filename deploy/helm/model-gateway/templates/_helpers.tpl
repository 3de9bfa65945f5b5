{{- define "gateway.name" -}}
{{- if contains "model-gateway" .Release.Name -}}
{{- .Values.nameOverride | default .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- .Values.nameOverride | default (printf "%s-model-gateway" .Release.Name) | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: model-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gateway.isPostgres" -}}
{{- if eq .Values.database.kind "postgres" }}yes{{ end -}}
{{- end -}}

{{/* What no schema can say: values that do not go together. */}}
{{- define "gateway.check" -}}
{{- if not .Values.secretName -}}
{{- fail "secretName: name a secret that has GATEWAY_MASTER_KEY and GATEWAY_ADMIN_TOKEN" -}}
{{- end -}}
{{- if not (include "gateway.isPostgres" .) -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- fail "pods cannot share SQLite: one replica without autoscaling, or database.kind: postgres" -}}
{{- end -}}
{{- if gt (int .Values.workers) 1 -}}
{{- fail "workers cannot share SQLite: workers: 1, or database.kind: postgres" -}}
{{- end -}}
{{- end -}}
{{- if eq (int .Values.metrics.port) 8080 -}}
{{- fail "metrics.port: 8080 is where callers are served" -}}
{{- end -}}
{{- if lt (int .Values.termination.graceSeconds) (add 60 (int .Values.termination.pauseSeconds) | int) -}}
{{- fail "termination.graceSeconds must be at least 60 more than termination.pauseSeconds" -}}
{{- end -}}
{{- end -}}
