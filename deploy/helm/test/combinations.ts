/** Values that turn on every part of the chart at once, and those of installations that differ from the defaults. */
const ingress = (host: string) => ({
  enabled: true,
  className: 'nginx',
  host,
  annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
  tls: { enabled: true, secretName: `${host}-tls` },
});
const scheduling = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'pipeline', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] }],
      },
    },
  },
  priorityClassName: 'high',
};
const namespaced = (name: string) => [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }];
const secret = (key: string) => ({ name: 'one-for-all', key });
const pod = { scheduling, podAnnotations: { 'example.org/owner': 'team' } };
const digest = `sha256:${'0'.repeat(64)}`;

const everything = {
  image: { registry: 'images.example.org/acme', tag: '0.1.0-rc.1', pullSecrets: [{ name: 'pull' }] },
  serviceAccount: { annotations: { 'example.org/role': 'pipeline' } },
  hostedApi: {
    ...pod,
    image: { digest },
    env: { ADDRESS_RATE_LIMIT: 10_000_000, TELL_STORE_DETAILS: true, OIDC_ISSUER: 'https://login.example.org' },
    secrets: {
      OIDC_CLIENT_ID: secret('oidc-client-id'),
      OIDC_CLIENT_SECRET: secret('oidc-client-secret'),
      GITHUB_WEBHOOK_SECRET: secret('webhook-secret'),
    },
    ingress: ingress('api.example.org'),
    autoscaling: { enabled: true },
  },
  monitor: {
    ...pod,
    replicas: 2,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', TRUSTED_PROXIES: 2 },
    config: { repos: [{ slug: 'acme/shop', poolSize: 2 }] },
    ingress: ingress('monitor.example.org'),
  },
  migrate: { ...pod, env: { DATABASE_ROLE_PREFIX: 'blue' }, serviceAccountName: 'migrations' },
  agent: { ...pod, enabled: true, extraArgs: ['--max-turns', '50'], proxy: { scheduling } },
  networkPolicy: {
    hostedApiFrom: namespaced('ingress-nginx'),
    monitorFrom: namespaced('ingress-nginx'),
    metricsFrom: namespaced('monitoring'),
    database: { ports: [5432, 6432], to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
    extraEgress: [{ ports: [{ port: 4318, protocol: 'TCP' }] }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

/** One Secret that another program fills, with keys of its own. */
const externalSecrets = {
  hostedApi: {
    secrets: {
      DATABASE_URL: secret('hosted.url'),
      DATABASE_DIRECT_URL: secret('hosted.direct-url'),
      OAUTH_COOKIE_KEYS: secret('cookie.keys'),
    },
  },
  monitor: { secrets: { DATABASE_URL: secret('monitor.url'), MONITOR_PASSWORD: secret('operator') } },
  migrate: {
    secrets: {
      DATABASE_URL: secret('owner.url'),
      HOSTED_API_DATABASE_PASSWORD: null,
      MONITOR_DATABASE_PASSWORD: null,
    },
  },
};

const leastParts = {
  fullnameOverride: 'small',
  serviceAccount: { create: false },
  hostedApi: { replicas: 1, secrets: { OAUTH_COOKIE_KEYS: null } },
  monitor: { existingConfigMap: 'mine' },
  migrate: { enabled: false },
  podDisruptionBudget: { enabled: false },
  networkPolicy: { enabled: false },
};

/** TLS ends in front of the ingress controller. */
const outerTls = {
  hostedApi: { ingress: { enabled: true, host: 'api.example.org', tls: { enabled: false } } },
  monitor: { publicUrl: 'https://monitor.example.org' },
};

export const COMBINATIONS: Readonly<Record<string, object>> = {
  'no values': {},
  everything,
  'one Secret for all': externalSecrets,
  'the least parts': leastParts,
  'outer TLS': outerTls,
};
