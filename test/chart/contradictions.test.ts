import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SCALER } from './cases.js';
import { HELMS, HELM_TIMEOUT_MS, startHelm, template } from './helm.js';
import type { Helm, Values } from './helm.js';
import { describeVerdicts } from './verdicts.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const source = (fields: Values): Values => ({ config: { prometheus: { default: fields } } });
const credentials = (fields: Values, more: Values = {}): Values => ({
  ...more,
  credentials: { default: fields },
});
const scaler = (document: unknown): Values => ({ scalers: { web: document } });
const PEM = '-----BEGIN CERTIFICATE-----';

/** Contradiction -> message. */
const REFUSED: Readonly<Record<string, readonly [Values, string]>> = {
  'two replicas without an election': [
    { replicas: 2, leaderElection: { enabled: false } },
    'replicas is 2 and leaderElection.enabled is false: every replica would scale. Enable leader election, or set replicas to 1',
  ],
  'shares without an election': [
    { sharding: { enabled: true }, leaderElection: { enabled: false } },
    'sharding.enabled is true and leaderElection.enabled is false: a replica could not take over the scalers of another one',
  ],
  'two replicas with one volume for their records': [
    { replicas: 2, record: { enabled: true, existingClaim: 'decisions' } },
    'record.existingClaim is set and replicas is 2: the replicas would write to the same file',
  ],
  'shares without state': [
    { sharding: { enabled: true }, state: { enabled: false } },
    'sharding.enabled is true and state.enabled is false',
  ],
  'a lease that ends before its renewal does': [
    { leaderElection: { leaseDurationSeconds: 10 } },
    'leaseDurationSeconds (10) must be above renewDeadlineSeconds (10)',
  ],
  'a renewal of one attempt': [
    { leaderElection: { renewDeadlineSeconds: 12, retryPeriodSeconds: 10 } },
    'and that above 1.2 times retryPeriodSeconds (10)',
  ],
  'two ways to be scraped': [
    { serviceMonitor: { enabled: true }, service: { scrapeAnnotations: true } },
    'serviceMonitor.enabled and service.scrapeAnnotations are both true',
  ],
  'alerts on metrics that nothing scrapes': [
    { prometheusRule: { enabled: true }, serviceMonitor: { enabled: false } },
    'prometheusRule.enabled needs serviceMonitor.enabled, or prometheusRule.job',
  ],
  'an Ingress without a host': [
    { ingress: { enabled: true } },
    'ingress.enabled is true and ingress.hosts is empty: the service answers no host that it does not know. Set ingress.hosts',
  ],
  'a port of the nodes for ClusterIP': [
    { service: { nodePort: 30080 } },
    'service.nodePort is 30080 and service.type is ClusterIP, which has no port on the nodes',
  ],
  'two pods during an update without an election': [
    { leaderElection: { enabled: false }, updateStrategy: { type: 'RollingUpdate' } },
    'updateStrategy is not of type Recreate and leaderElection.enabled is false: during an update two pods would both scale',
  ],
  'permissions for the default account': [
    { serviceAccount: { create: false } },
    'the permissions would go to the service account `default`, which every pod of the namespace uses',
  ],
  'a variable of the chart': [{ extraEnv: [{ name: 'POD_NAME' }] }, 'extraEnv: POD_NAME is already set'],
  'a variable twice': [{ extraEnv: [{ name: 'A' }, { name: 'A' }] }, 'extraEnv: A is already set'],
  'two counts': [{ replicas: 2, replicaCount: 3 }, 'replicas is 2 and replicaCount is 3: set one of them'],
  'two replicas under the other name without an election': [
    { replicaCount: 2, leaderElection: { enabled: false } },
    'replicas is 2 and leaderElection.enabled is false',
  ],
  'a volume of the chart': [
    { extraVolumes: [{ name: 'config', emptyDir: {} }] },
    'extraVolumes: the pod already has a volume config. Choose another name',
  ],
  'a volume twice': [
    { extraVolumes: [{ name: 'a' }, { name: 'a' }] },
    'extraVolumes: the pod already has a volume a',
  ],
  'a mount without its volume': [
    { extraVolumeMounts: [{ name: 'a', mountPath: '/a' }] },
    'extraVolumeMounts: extraVolumes has no volume a',
  ],
  'a mount over the documents': [
    {
      extraVolumes: [{ name: 'a' }],
      extraVolumeMounts: [{ name: 'a', mountPath: '/etc/promscaler/scalers' }],
    },
    'extraVolumeMounts: /etc/promscaler/scalers would hide files of the chart. Choose another mountPath',
  ],
  'two budgets': [
    { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 0 } },
    'podDisruptionBudget: minAvailable and maxUnavailable are both set: Kubernetes accepts one of them',
  ],
  'another config': [{ extraArgs: ['--config=/x'] }, 'extraArgs: --config is already set'],
  'an address in two places': [
    { prometheus: { url: 'http://p' }, ...source({ urls: ['http://p'] }) },
    'prometheus.url and config.prometheus.default.urls are both set',
  ],
  'an address without http': [
    source({ urls: ['http://a', 'prometheus:9090'] }),
    'config.prometheus.default.urls[1] must be an http or https URL without user, password, query and fragment',
  ],
  'an address with a password': [
    source({ urls: ['http://u:canary@p'] }),
    'config.prometheus.default.urls[0] must be an http or https URL',
  ],
  'an empty address': [source({ urls: [''] }), 'config.prometheus.default.urls[0] must be'],
  'a token in a header': [
    source({ headers: { authorization: 'Bearer canary' } }),
    'config.prometheus.default.headers.authorization would be readable in a ConfigMap. Set credentials.default (bearerToken, or username and password) instead',
  ],
  'credentials of a source that is not there': [
    { credentials: { thanos: { bearerToken: 'canary' } } },
    'credentials.thanos: config.prometheus names no data source thanos',
  ],
  'credentials of default where others are named': [
    credentials({ bearerToken: 'canary' }, { config: { prometheus: { thanos: {} } } }),
    'credentials.default: config.prometheus names no data source default',
  ],
  'a token twice': [
    credentials({ bearerToken: 'canary', existingSecret: 's', keys: { bearerToken: 'k' } }),
    'credentials.default.bearerToken and credentials.default.keys.bearerToken are both set',
  ],
  'keys of no Secret': [
    credentials({ keys: { bearerToken: 'k' } }),
    'credentials.default.keys needs credentials.default.existingSecret',
  ],
  'a Secret of which nothing is taken': [
    credentials({ existingSecret: 's' }),
    'credentials.default.existingSecret needs credentials.default.keys',
  ],
  'a token and a password': [
    credentials({ bearerToken: 'canary', username: 'u', password: 'canary' }),
    'credentials.default has a bearerToken and a password',
  ],
  'a password without a name': [
    credentials({ password: 'canary' }),
    'credentials.default needs both username and password, or neither',
  ],
  'a name without a password': [credentials({ username: 'u' }), 'needs both username and password'],
  'a certificate without its key': [
    credentials({ cert: PEM }),
    'credentials.default needs both cert and key, or neither',
  ],
  'a token here and a file there': [
    credentials({ bearerToken: 'canary' }, source({ bearerTokenFile: '/var/run/token' })),
    'credentials.default and config.prometheus.default.bearerTokenFile both set the Authorization header',
  ],
  'a certificate here and there': [
    credentials({ ca: PEM }, source({ tls: { caFile: '/ca' } })),
    'credentials.default.ca and config.prometheus.default.tls.caFile are both set',
  ],
  'a file of a Secret that is not mounted': [
    { secrets: ['other'], ...source({ bearerTokenFile: '/etc/promscaler/secrets/token/token' }) },
    'config.prometheus.default.bearerTokenFile names a file of the Secret token, which `secrets` does not list',
  ],
  'a file next to the config': [
    source({ basicAuth: { username: 'u', passwordFile: 'password' } }),
    'config.prometheus.default.basicAuth.passwordFile must be an absolute path',
  ],
  'a document of another kind': [
    scaler('apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n'),
    'scalers.web: kind is HorizontalPodAutoscaler, must be Scaler',
  ],
  'a document of no kind': [
    scaler('spec: { maxReplicas: 3 }'),
    'scalers.web: kind is not given, must be Scaler',
  ],
  'a second document of another kind': [
    scaler('kind: Scaler\n--- # next\nkind: Deployment\n'),
    'scalers.web: kind is Deployment, must be Scaler',
  ],
  'a document for another namespace': [
    { namespaces: ['pay', 'ops'], ...scaler(SCALER) },
    'scalers.web is for the namespace shop, which `namespaces` does not list: promscaler has no permissions there',
  ],
  'a string for another namespace': [
    { namespaces: ['pay'], ...scaler('kind: Scaler\nmetadata: { name: web, namespace: shop }') },
    'scalers.web is for the namespace shop',
  ],
  'the name of a file in place of its text': [
    scaler('shop/web.yaml'),
    'scalers.web is the string "shop/web.yaml", not a document; to read a file, use --set-file scalers.web=FILE',
  ],
  'two documents of one name': [
    { scalers: { a: SCALER, b: 'kind: Scaler\nmetadata: { name: web, namespace: shop }' } },
    'scalers.a and scalers.b are both called shop/web: the service would reject both',
  ],
  'documents that fill more than a ConfigMap': [
    scaler(`# ${'x'.repeat(999_999)}\n`),
    'scalers: 1000002 bytes, a ConfigMap holds at most 1 MiB',
  ],
};

/** Accepted values next to each rejected one. */
const ACCEPTED: Readonly<Record<string, Values>> = {
  'one replica without an election': { replicas: 1, leaderElection: { enabled: false } },
  'a lease of 11 s renewed within 10': { leaderElection: { leaseDurationSeconds: 11 } },
  'a renewal of 13 s tried every 10': {
    leaderElection: { renewDeadlineSeconds: 13, retryPeriodSeconds: 10 },
  },
  'alerts on metrics of the ServiceMonitor': {
    prometheusRule: { enabled: true },
    serviceMonitor: { enabled: true },
  },
  'an account by name': { serviceAccount: { create: false, name: 'mine' } },
  'objects of the cluster without permissions, which the notes report': {
    crd: { enabled: true },
    rbac: { create: false },
  },
  'no permissions and no account': { serviceAccount: { create: false }, rbac: { create: false } },
  'the address of another source': {
    prometheus: { url: 'http://p' },
    config: { prometheus: { other: { urls: ['http://o/prefix/'] } } },
  },
  'a header that is no secret': source({ headers: { 'X-Scope-OrgID': 'team-a' } }),
  'credentials of the built-in source': credentials({ bearerToken: 'canary' }),
  'the account of the pod as the token': source({
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  }),
  'a certificate here and a name there': credentials({ ca: PEM }, source({ tls: { serverName: 'p' } })),
  'a string that is not YAML': scaler('a: [\n'),
  'an empty document at the end': scaler('kind: Scaler\n---\n# nothing\n'),
  'two documents of one name in two namespaces': {
    scalers: { a: SCALER, b: 'kind: Scaler\nmetadata: { name: web, namespace: pay }' },
  },
  'a document whose metadata is not a map': scaler('kind: Scaler\nmetadata: web'),
  'a list of documents': scaler('- kind: Scaler'),
  'two documents without a name': { scalers: { a: 'kind: Scaler', b: 'kind: Scaler' } },
  'a document of a listed namespace': { namespaces: ['shop'], ...scaler(SCALER) },
  'documents that just fit': scaler(`# ${'x'.repeat(999_997)}\n`),
};

describeVerdicts('values that contradict each other', { refused: REFUSED, accepted: ACCEPTED });

describe.each(HELMS)('contradicting values, with %s', (which) => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm(which);
  });

  it('are all reported at once', () => {
    const values = { replicas: 2, leaderElection: { enabled: false }, ...source({ urls: ['p'] }) };

    expect(template(helm, values).stderr.match(/^- /gm)).toHaveLength(2);
  });
});
