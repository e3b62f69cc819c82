import { describe, expect, it } from '@jest/globals';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { scalerYaml } from '../support/scaler-yaml.js';

const SPEC = { scaleTargetRef: { name: 'web' }, minReplicas: 5, maxReplicas: '3' };
const METADATA = { name: 'web', namespace: 'shop', uid: 'a' };

function codesOf(document: unknown): readonly string[] {
  return parseScaler(document).problems.map(({ code }) => code);
}

describe('a document of another kind', () => {
  it.each(['scaler', 'Scalar', 'HorizontalPodAutoscaler', 'CHPA', 'Foo'])(
    'as %s reports its other problems, too, with the apiVersion in the same message',
    (kind) => {
      const codes = codesOf({ apiVersion: 'autoscaling/v2', kind, metadata: METADATA, spec: SPEC });

      expect(codes).toEqual(['wrong-kind', 'system-fields', 'wrong-type']);
    },
  );

  it('has no hint to change the apiVersion if that is right', () => {
    const { problems } = parseScaler({
      apiVersion: 'promscaler.dev/v1',
      kind: 'scaler',
      metadata: METADATA,
      spec: SPEC,
    });

    expect(problems[0]?.message).toBe('kind is scaler, must be Scaler; did you mean "Scaler"?');
  });

  it('with another spec has only this problem: a Deployment is not a misspelled scaler', () => {
    const spec = { replicas: 2, selector: {}, template: { spec: {} } };

    expect(codesOf({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: METADATA, spec })).toEqual([
      'wrong-kind',
    ]);
  });

  it('is reported next to an invalid apiVersion and its other problems', () => {
    const document = { apiVersion: 'promscaler.dev/v2', kind: 'Scaler', metadata: METADATA, spec: SPEC };

    expect(codesOf(document)).toEqual(['system-fields', 'wrong-value', 'wrong-type']);
  });
});

describe('a document of another kind in a file', () => {
  const read = (...documents: readonly string[]): readonly [readonly string[], readonly string[]] => {
    const { scalers, problems } = readScalers(documents.join('\n---\n'), 'a.yaml');
    return [scalers.map(({ key }) => key), problems.map(({ code }) => code)];
  };
  const named = (apiVersion: string, kind: string): string =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: web, namespace: shop }\nspec: { scaleTargetRef: { name: web }, maxReplicas: 3 }`;
  const deployment = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec: { replicas: 2 }';

  it('with a Scaler is skipped before and after it, as in the output of helm template', () => {
    const hpa = named('autoscaling/v2', 'HorizontalPodAutoscaler');
    const object = named('keda.sh/v1alpha1', 'ScaledObject');

    expect(read(deployment, scalerYaml(), hpa, object)).toEqual([['shop/web'], []]);
  });

  it.each([
    ['without a Scaler', [deployment, deployment], ['wrong-kind', 'wrong-kind']],
    ['that is a misspelled Scaler', [scalerYaml(), named('promscaler.dev/v1', 'Scalar')], ['wrong-kind']],
    ['that is a Scaler in lower case', [scalerYaml(), named('promscaler.dev/v1', 'scaler')], ['wrong-kind']],
    ['of the API group of Scalers', [scalerYaml(), named('promscaler.dev/v1', 'Other')], ['wrong-kind']],
    ['without an apiVersion', [scalerYaml(), 'kind: Deployment'], ['wrong-kind']],
    ['that may contain Scalers', [scalerYaml(), 'apiVersion: v1\nkind: List\nitems: []'], ['wrong-kind']],
  ])('is an error %s', (_, documents, codes) => {
    expect(read(...documents)[1]).toEqual(codes);
  });
});

describe('a field that the cluster sets in an object', () => {
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: {
      ...METADATA,
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl' }],
      ownerReferences: [{ kind: 'App' }],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', team: 'a' },
    },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 3 },
    status: { conditions: [] },
  };

  it('is in one warning with all others, and the document is valid', () => {
    const { scaler, problems } = parseScaler(document);

    expect(scaler?.document.metadata).toEqual({
      name: 'web',
      namespace: 'shop',
      annotations: { team: 'a' },
    });
    expect(problems.map(({ severity, code, path }) => [severity, code, path])).toEqual([
      ['warning', 'system-fields', 'metadata.uid'],
    ]);
    expect(problems[0]?.message).toBe(
      'metadata.uid, metadata.resourceVersion, metadata.generation, metadata.creationTimestamp, metadata.managedFields, metadata.ownerReferences, metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] and status are set by the cluster and ignored here: remove these fields',
    );
  });

  it('causes no warning if it is null, as `kubectl create --dry-run` writes creationTimestamp', () => {
    const metadata = { name: 'web', namespace: 'shop', creationTimestamp: null };

    expect(codesOf({ ...document, metadata, status: null })).toEqual([]);
  });

  it('does not hide an unknown field next to it, or metadata that is not an object', () => {
    expect(codesOf({ ...document, metadata: { ...METADATA, uuid: 'x' } })).toEqual([
      'system-fields',
      'unknown-field',
    ]);
    expect(codesOf({ ...document, metadata: [1] })).toEqual(['system-fields', 'wrong-type']);
  });
});
