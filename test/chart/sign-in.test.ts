import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { readServiceConfig } from '../../src/config/read-service-config.js';
import { folderOf, runCli } from '../cli/fake-io.js';
import { MANAGED } from './cases.js';
import { CHART, HELM_TIMEOUT_MS, at, isMapping, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';
import { describeVerdicts } from './verdicts.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const CLIENT_ID = '11111111-2222-3333-4444-555555555555';
const LABEL = 'azure.workload.identity/use';
const OAUTH2 = { tokenUrl: 'https://login.example.com/token', clientId: 'c' };

const source = (fields: Values, more: Values = {}): Values => ({
  ...more,
  config: { prometheus: { default: fields } },
});
const keys = (given: Values): Values => ({ credentials: { default: { existingSecret: 's', keys: given } } });
const annotated = (annotations: Values): Values => ({ serviceAccount: { annotations } });
const azure = (use: string | null, more: Values = {}): Values =>
  source({ azure: {} }, { ...(use === null ? {} : { podLabels: { [LABEL]: use } }), ...more });

/** Contradiction -> message. */
const REFUSED: Readonly<Record<string, readonly [Values, string]>> = {
  'two ways': [
    source({ azure: {}, google: {} }, { podLabels: { [LABEL]: 'false' } }),
    'config.prometheus.default has azure and google: a data source has one authentication method',
  ],
  'a token next to another sign-in method': [
    source({ google: {} }, { credentials: { default: { bearerToken: 'canary' } } }),
    'credentials.default and config.prometheus.default.google both set the Authorization header',
  ],
  'a client without its secret': [
    source({ oauth2: OAUTH2 }),
    'config.prometheus.default.oauth2 has no client secret: set the Secret that contains it, credentials.default: { existingSecret: SECRET, keys: { clientSecret: KEY } }',
  ],
  'the secret of a client in clear': [
    source({ oauth2: OAUTH2 }, { credentials: { default: { clientSecret: 'canary' } } }),
    'credentials.default.clientSecret is in clear text in the values',
  ],
  'the secret of a client twice': [
    source({ oauth2: { ...OAUTH2, clientSecretFile: '/s' } }, keys({ clientSecret: 'k' })),
    'credentials.default.keys.clientSecret and config.prometheus.default.oauth2.clientSecretFile are both set',
  ],
  'the secret of no client': [
    source({}, keys({ clientSecret: 'k' })),
    'credentials.default.keys.clientSecret is for config.prometheus.default.oauth2, which is not set',
  ],
  'keys of AWS for no signature': [
    source({ azure: {} }, { ...keys({ awsCredentials: 'k' }), podLabels: { [LABEL]: 'false' } }),
    'credentials.default.keys.awsCredentials is for config.prometheus.default.sigv4, which is not set',
  ],
  'keys of AWS twice': [
    source({ sigv4: { region: 'r', credentialsFile: '/c' } }, keys({ awsCredentials: 'k' })),
    'credentials.default.keys.awsCredentials and config.prometheus.default.sigv4.credentialsFile are both set',
  ],
  'a secret among the parameters': [
    source(
      { oauth2: { ...OAUTH2, endpointParams: { client_secret: 'canary' } } },
      keys({ clientSecret: 'k' }),
    ),
    'config.prometheus.default.oauth2.endpointParams.client_secret would be readable in a ConfigMap',
  ],
  'a token endpoint that is no address': [
    source({ oauth2: { ...OAUTH2, tokenUrl: 'login.example.com' } }, keys({ clientSecret: 'k' })),
    'config.prometheus.default.oauth2.tokenUrl must be an http or https URL',
  ],
  'a secret file next to the config': [
    source({ oauth2: { ...OAUTH2, clientSecretFile: 'secret' } }),
    'config.prometheus.default.oauth2.clientSecretFile must be an absolute path',
  ],
  'keys of a Secret that is not mounted': [
    source({ sigv4: { region: 'r', credentialsFile: '/etc/promscaler/secrets/amp/credentials' } }),
    'config.prometheus.default.sigv4.credentialsFile names a file of the Secret amp, which `secrets` does not list',
  ],
  'Azure without the label': [
    azure(null, annotated({ 'azure.workload.identity/client-id': CLIENT_ID })),
    `config.prometheus.default.azure needs podLabels ${LABEL}: "true", without which AKS does not inject a token into the pod; "false" selects the identity of the node`,
  ],
  'Azure with a label that says neither': [azure('yes'), `needs podLabels ${LABEL}`],
  'Azure with the label and no identity': [
    azure('true'),
    'config.prometheus.default.azure: no identity is set. Set serviceAccount.annotations azure.workload.identity/client-id, or config.prometheus.default.azure.clientId',
  ],
  'an identity of Azure that is not used': [
    azure('false', annotated({ 'azure.workload.identity/client-id': CLIENT_ID })),
    'and serviceAccount.annotations set an identity: it would not be used',
  ],
  'annotations of an account of yours': [
    { serviceAccount: { create: false, name: 'mine', annotations: { a: 'b' } } },
    'serviceAccount.annotations have no effect because serviceAccount.create is false: annotate the service account mine yourself',
  ],
  'a role that is none': [
    annotated({ 'eks.amazonaws.com/role-arn': 'promscaler-query' }),
    'serviceAccount.annotations eks.amazonaws.com/role-arn is "promscaler-query", must be arn:aws:iam::ACCOUNT:role/NAME',
  ],
  'an account of Google that is none': [
    annotated({ 'iam.gke.io/gcp-service-account': 'promscaler' }),
    'must be NAME@PROJECT.iam.gserviceaccount.com',
  ],
  'a client id of Azure that is none': [
    annotated({ 'azure.workload.identity/client-id': 'promscaler' }),
    'must be the client id of the managed identity, a UUID',
  ],
  'a secret variable in clear': [
    { extraEnv: [{ name: 'AWS_SECRET_ACCESS_KEY', value: 'canary' }] },
    'extraEnv: AWS_SECRET_ACCESS_KEY would be readable in the Deployment',
  ],
  'a variable with a file that is not mounted': [
    { extraEnv: [{ name: 'GOOGLE_APPLICATION_CREDENTIALS', value: '/etc/promscaler/secrets/gmp/key.json' }] },
    'extraEnv: GOOGLE_APPLICATION_CREDENTIALS names a file of the Secret gmp, which `secrets` does not list',
  ],
};

/** Accepted values next to each rejected one. */
const ACCEPTED: Readonly<Record<string, Values>> = {
  'one way each': MANAGED,
  'a client whose secret is a file': source({ oauth2: { ...OAUTH2, clientSecretFile: '/var/run/s' } }),
  'a parameter that is no secret': source(
    { oauth2: { ...OAUTH2, endpointParams: { audience: 'metrics' } } },
    keys({ clientSecret: 'k' }),
  ),
  'a CA next to a sign-in method': source({ google: {} }, keys({ ca: 'ca.crt' })),
  'keys of a Secret that is mounted': source(
    { sigv4: { region: 'r', credentialsFile: '/etc/promscaler/secrets/amp/credentials' } },
    { secrets: ['amp'] },
  ),
  'Azure with the identity of the machine': azure('false'),
  'Azure with the identity in the config': source(
    { azure: { clientId: CLIENT_ID } },
    { podLabels: { [LABEL]: 'true' } },
  ),
  'Azure with an account of yours': azure('true', { serviceAccount: { create: false, name: 'mine' } }),
  'Azure with the label among the common ones': source(
    { azure: { clientId: CLIENT_ID } },
    { commonLabels: { [LABEL]: 'true' } },
  ),
  'a role in the cloud of China': annotated({
    'eks.amazonaws.com/role-arn': 'arn:aws-cn:iam::111122223333:role/path/name',
  }),
  'a secret variable of a Secret': {
    extraEnv: [{ name: 'AWS_SECRET_ACCESS_KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
  },
};

describeVerdicts('ways of signing in', { refused: REFUSED, accepted: ACCEPTED });

const podOf = (objects: readonly Rendered[]): unknown => at(pick(objects, 'Deployment'), 'spec', 'template');

/** Returns the rendered service config. */
const configText = (objects: readonly Rendered[]): string =>
  textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml');

describe('the pod', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  it('gets the client secret and the AWS keys as files, which the service config names', () => {
    const objects = render(helm, MANAGED);
    const volumes = listAt(podOf(objects), 'spec', 'volumes');
    const items = volumes.flatMap((volume) =>
      at(volume, 'projected') === undefined ? [] : listAt(volume, 'projected', 'sources'),
    );

    expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
    expect(items).toEqual([
      { secret: { name: 'amp', items: [{ key: 'credentials', path: 'aws-credentials' }] } },
      { secret: { name: 'client', items: [{ key: 'secret', path: 'client-secret' }] } },
    ]);
    expect(at(parse(configText(objects)), 'prometheus')).toMatchObject({
      default: {
        oauth2: {
          tokenUrl: 'https://login.example.com:8443/token',
          clientId: 'promscaler',
          clientSecretFile: '/etc/promscaler/credentials/default/client-secret',
        },
      },
      amazon: {
        sigv4: {
          region: 'eu-central-1',
          credentialsFile: '/etc/promscaler/credentials/amazon/aws-credentials',
        },
      },
    });
  });

  it('gets the Azure label, also the pod of helm test, which signs in, too', () => {
    const objects = render(helm, MANAGED);

    expect(at(podOf(objects), 'metadata', 'labels', LABEL)).toBe('true');
    expect(at(pick(objects, 'Pod'), 'metadata', 'labels')).toMatchObject({
      [LABEL]: 'true',
      'app.kubernetes.io/name': 'promscaler-test',
    });
    expect(at(pick(objects, 'ServiceAccount'), 'metadata', 'annotations')).toEqual({
      'azure.workload.identity/client-id': CLIENT_ID,
    });
  });
});

const README = readFileSync(join(CHART, 'README.md'), 'utf8');
/** All values files with data sources, the first of them without a sign-in method. */
const EXAMPLES = Array.from(
  README.matchAll(/```yaml\n([\s\S]*?)```/g),
  ([, text = '']) => parse(text) as unknown,
)
  .filter(isMapping)
  .filter((values) => at(values, 'config', 'prometheus', 'default') !== undefined);

describe('the examples of the README', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  it('show each sign-in method, oauth2 and azure once, sigv4 and google with and without a key', () => {
    const ways = EXAMPLES.flatMap((values) =>
      ['oauth2', 'sigv4', 'azure', 'google'].filter(
        (way) => at(values, 'config', 'prometheus', 'default', way) !== undefined,
      ),
    );

    expect(ways).toEqual(['oauth2', 'sigv4', 'sigv4', 'azure', 'google', 'google']);
  });

  it.each(EXAMPLES.map((values, index) => [index + 1, values] as const))(
    'are rendered, and validate reports nothing in the service config of number %i',
    async (_, values) => {
      const text = configText(render(helm, values));
      const cwd = folderOf({ 'promscaler.yaml': text });

      const { exitCode, stdout, stderr } = await runCli(['validate', join(cwd, 'promscaler.yaml')]);

      expect(stderr).toBe('');
      expect(stdout).toContain('1 service config, 0 documents, 0 errors, 0 warnings');
      expect(exitCode).toBe(0);
      const { config } = readServiceConfig(text, 'promscaler.yaml', '/etc/promscaler/config/promscaler.yaml');
      const way = ['oauth2', 'sigv4', 'azure', 'google'].find(
        (one) => at(values, 'config', 'prometheus', 'default', one) !== undefined,
      );
      expect(config?.prometheus['default']?.signIn?.way).toBe(way);
    },
  );
});
