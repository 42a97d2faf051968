{{- define "retinue.selector" -}}
app.kubernetes.io/name: retinue
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "retinue.labels" -}}
{{ include "retinue.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "retinue.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "retinue.podSecurity" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- if .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml .Values.imagePullSecrets | nindent 2 }}
{{- end }}
{{- end }}

{{- define "retinue.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "retinue.settings" -}}
- name: RETINUE_BASE_URL
  value: {{ .Values.baseUrl | quote }}
{{- range $variable, $key := .Values.secret.keys }}
- name: {{ $variable }}_FILE
  value: /run/secrets/retinue/{{ $key }}
{{- end }}
{{- range $variable, $value := .Values.settings }}
- name: {{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- if .Values.metrics.enabled }}
- name: RETINUE_METRICS
  value: "on"
- name: RETINUE_METRICS_TOKEN_FILE
  value: /run/secrets/retinue/{{ .Values.metrics.tokenKey }}
{{- end }}
{{- end }}

{{- define "retinue.mounts" -}}
volumeMounts:
  - name: data
    mountPath: /data
  # Of this pod alone, even if all pods share the data: each is scraped, and would count for all others.
  - name: metrics
    mountPath: /data/metrics
  - name: temporary
    mountPath: /tmp
  - name: secrets
    mountPath: /run/secrets/retinue
    readOnly: true
{{- end }}

{{- define "retinue.volumes" -}}
volumes:
  - name: data
    {{- if .Values.data.existingClaim }}
    persistentVolumeClaim:
      claimName: {{ .Values.data.existingClaim }}
    {{- else }}
    emptyDir: {}
    {{- end }}
  - name: metrics
    emptyDir: {}
  - name: temporary
    emptyDir: {}
  - name: secrets
    secret:
      secretName: {{ .Values.secret.name }}
      defaultMode: 0440
{{- end }}
