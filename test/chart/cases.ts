import type { Values } from './helm.js';

export const SCALER = {
  apiVersion: 'promscaler.dev/v1',
  kind: 'Scaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 5 },
};

const PEM = (what: string): string => `-----BEGIN ${what}-----\nMII\n-----END ${what}-----\n`;

/** Plain-text credentials of two data sources. */
export const CREDENTIALS: Values = {
  config: { prometheus: { mimir: { urls: ['https://mimir.example.com'], flavor: 'mimir' }, default: {} } },
  credentials: {
    default: { bearerToken: 'canary-token' },
    mimir: {
      username: 'team-a',
      password: 'canary-password',
      ca: PEM('CERTIFICATE'),
      cert: PEM('CERTIFICATE'),
      key: PEM('PRIVATE KEY'),
    },
  },
};

/** The same credentials from an existing Secret. */
export const EXISTING: Values = {
  prometheus: { url: 'https://p.example.com' },
  credentials: {
    default: {
      username: 'prom',
      existingSecret: 'prometheus-auth',
      keys: { password: 'pass', ca: 'ca.pem' },
    },
  },
};

/** Four data sources, each of another cloud or identity provider, with the identities of the pod in one account. */
export const MANAGED: Values = {
  config: {
    prometheus: {
      default: {
        urls: ['https://metrics.example.com'],
        oauth2: { tokenUrl: 'https://login.example.com:8443/token', clientId: 'promscaler' },
      },
      amazon: { urls: ['https://aps.example.com'], sigv4: { region: 'eu-central-1' } },
      azure: { urls: ['https://azure.example.com'], azure: {} },
      google: { urls: ['https://google.example.com'], google: {} },
    },
  },
  credentials: {
    default: { existingSecret: 'client', keys: { clientSecret: 'secret' } },
    amazon: { existingSecret: 'amp', keys: { awsCredentials: 'credentials' } },
  },
  serviceAccount: {
    annotations: { 'azure.workload.identity/client-id': '11111111-2222-3333-4444-555555555555' },
  },
  podLabels: { 'azure.workload.identity/use': 'true' },
};

/** Each of them changes the rendered objects, and together they cover all of them. */
export const CASES: Readonly<Record<string, Values>> = {
  'no values': {},
  'a URL': { prometheus: { url: 'https://prometheus.example.com/prefix' } },
  'two namespaces': { namespaces: ['shop', 'pay'] },
  'its own namespace alone': { namespaces: ['ops'] },
  'three kinds, two of them outside of apps': {
    targets: ['statefulsets', 'rollouts.argoproj.io', 'replicationcontrollers'],
  },
  'no permissions and no account': { rbac: { create: false }, serviceAccount: { create: false } },
  'a scaler': { scalers: { web: SCALER } },
  'three replicas': { replicas: 3, leaderElection: { enabled: true, leaseDurationSeconds: 60 } },
  'no election and no state': { leaderElection: { enabled: false }, state: { enabled: false } },
  'credentials in clear': CREDENTIALS,
  'credentials of a Secret': EXISTING,
  'four ways of signing in': MANAGED,
  'documents in files only': { crd: { enabled: false } },
  'an Ingress and one more object': {
    ingress: {
      enabled: true,
      className: '1e3',
      annotations: { i: 'on' },
      hosts: [{ host: 'on', paths: [{ path: '/no' }] }],
      tls: [{ secretName: 'tls' }],
    },
    extraObjects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'more',
          namespace: '{{ .Release.Namespace }}',
          labels: { 'app.kubernetes.io/instance': '{{ .Release.Name }}' },
        },
      },
    ],
  },
  'objects of two namespaces, by a definition of others': {
    crd: { enabled: true, create: false, aggregateRoles: false },
    namespaces: ['shop', 'pay'],
  },
  'ConfigMaps of documents': { scalerConfigMaps: ['team-a', 'team-b.v2'] },
  'a ServiceMonitor': { serviceMonitor: { enabled: true, labels: { release: 'kps' }, interval: '1m30s' } },
  'alerts on metrics that the chart does not scrape': { prometheusRule: { enabled: true, job: 'my "job"' } },
  'no NetworkPolicy': { networkPolicy: { enabled: false } },
  'names that look like something else': { fullnameOverride: 'null', serviceAccount: { name: '0x1f' } },
  'null instead of maps': {
    config: null,
    scalers: null,
    secrets: null,
    credentials: null,
    scalerConfigMaps: null,
    resources: null,
    extraEnv: null,
    commonLabels: null,
    podLabels: null,
    podAnnotations: null,
    service: { annotations: null },
    ingress: { annotations: null, hosts: null, tls: null, className: null },
    livenessProbe: null,
    readinessProbe: null,
    startupProbe: null,
    updateStrategy: null,
    extraObjects: null,
    global: null,
    serviceMonitor: {
      labels: null,
      annotations: null,
      interval: null,
      namespace: null,
      scrapeTimeout: null,
      relabelings: null,
      metricRelabelings: null,
    },
    envFrom: null,
    extraArgs: null,
    extraVolumes: null,
    extraVolumeMounts: null,
    dnsConfig: null,
    topologySpreadConstraints: null,
    podSecurityContext: null,
    securityContext: null,
    podDisruptionBudget: { unhealthyPodEvictionPolicy: null },
    prometheusRule: { labels: null, job: null, alerts: null, alertLabels: null, runbookUrl: null },
    grafana: { dashboards: { labels: null, annotations: null, folder: null, namespace: null } },
    networkPolicy: { ingressFrom: null, extraEgress: null, tokenEndpoints: null },
  },
  everything: {
    image: { repository: 'registry.example.com/promscaler', digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'pull' }],
    commonLabels: { team: 'on', 'app.kubernetes.io/name': 'other' },
    namespaces: ['shop'],
    targets: ['deployments'],
    dryRun: true,
    replicas: 2,
    leaderElection: { leaseDurationSeconds: 60, renewDeadlineSeconds: 40, retryPeriodSeconds: 10 },
    config: { prometheus: { default: { urls: ['http://p:9090'] } }, log: { level: 'debug' } },
    credentials: { default: { bearerToken: 't', existingSecret: 'auth', keys: { ca: 'ca.crt' } } },
    scalers: { web: SCALER, 'text.v2': '# a text\n' },
    scalerConfigMaps: ['team-a'],
    crd: { enabled: true },
    secrets: ['token', 'other.secret'],
    serviceAccount: { name: 'scaler', annotations: { a: 'on' } },
    service: { type: 'LoadBalancer', port: 80, annotations: { b: '012' } },
    startupProbe: { periodSeconds: 1 },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    serviceMonitor: {
      enabled: true,
      labels: { release: '1e3' },
      annotations: { f: 'no' },
      namespace: 'monitoring',
      interval: '30s',
      scrapeTimeout: '10s',
      relabelings: [{ action: 'labeldrop', regex: 'pod' }],
      metricRelabelings: [{ action: 'drop', sourceLabels: ['__name__'], regex: 'nodejs_.*' }],
    },
    prometheusRule: {
      enabled: true,
      labels: { release: '1e3' },
      alertLabels: { team: 'no' },
      alerts: { PromscalerPaused: { enabled: false }, PromscalerAtMaximum: { for: '1h' } },
      runbookUrl: 'https://wiki.example.com/promscaler',
    },
    grafana: { dashboards: { enabled: true, labels: { g: '1e3' }, annotations: { h: 'y' }, folder: 'on' } },
    networkPolicy: {
      ingressFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      apiServerPorts: [7443],
      extraEgress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 3128, protocol: 'TCP' }] }],
    },
    extraEnv: [{ name: 'TZ', value: 'Europe/Warsaw' }],
    podAnnotations: { c: 'yes' },
    podLabels: { d: '1e3' },
    nodeSelector: { arch: 'amd64' },
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    envFrom: [{ secretRef: { name: 'env' } }],
    extraArgs: ['--strict'],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ssl/extra', readOnly: true }],
    dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
    ],
    podDisruptionBudget: { enabled: true, minAvailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    podSecurityContext: { fsGroupChangePolicy: 'OnRootMismatch' },
    securityContext: { seLinuxOptions: { level: 's0:c1,c2' } },
    global: { anything: true },
  },
};
