import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Instant } from '../../../src/units/time.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Random } from './random.js';

/** The namespace that shares the data sources with all others and does them harm. */
export const TENANT = 'tenant';

/** What the queries of its documents do: are slow, rejected by a proxy, answered with too much, or many. */
export type TenantWay = 'slow' | 'forbidden' | 'too-large' | 'many';

export const TENANT_DOCUMENTS = 4;
const METRICS: Readonly<Record<TenantWay, number>> = { slow: 12, forbidden: 40, 'too-large': 10, many: 40 };
const NAMES = Array.from({ length: TENANT_DOCUMENTS }, (_, index) => `tenant${index}`);
const QUERY = /^tenant_load\{way="([a-z-]+)"/;

/** Returns its Deployments, of one replica each. */
export function tenantDeployments(): readonly JsonObject[] {
  return NAMES.map((name) => {
    const labels = { app: name };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: TENANT, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      },
      status: { replicas: 1 },
    };
  });
}

/** Returns its documents as YAML, separated by `---`. An answer is the target of one replica: nothing is to be changed. */
export function tenantDocuments(way: TenantWay): string {
  return NAMES.map((name) => {
    const metrics = Array.from({ length: METRICS[way] }, (_, index) => ({
      type: 'External',
      external: {
        metric: { name: `m${index}` },
        query: `tenant_load{way="${way}", n="${name} ${index}"}`,
        target: { type: 'AverageValue', averageValue: 1 },
      },
    }));
    const metadata = { name, namespace: TENANT };
    const spec = { scaleTargetRef: { name }, minReplicas: 1, maxReplicas: 2, metrics };
    return `${JSON.stringify({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec })}\n`;
  }).join('---\n');
}

/** Returns how long its query takes, and the answer; null: the query is not that of the tenant. */
export function tenantAnswer(
  query: string,
  random: Random,
): { readonly delayMs: number; readonly at: (evaluatedAt: Instant) => Answer } | null {
  const way = QUERY.exec(query)?.[1] as TenantWay | undefined;
  const value = (evaluatedAt: Instant): Answer => ({
    class: 'value',
    series: [{ labels: {}, value: 1 }],
    evaluatedAt,
  });
  switch (way) {
    case undefined:
      return null;
    case 'slow':
      return { delayMs: random.between(3000, 20_000), at: value };
    case 'forbidden':
      return { delayMs: 50, at: () => failure('unauthorized') };
    case 'too-large':
      return { delayMs: 3000, at: () => failure('too_large') };
    case 'many':
      return { delayMs: 100, at: value };
    default:
      return way satisfies never;
  }
}

function failure(reason: 'unauthorized' | 'too_large'): Answer {
  return { class: 'failed', reason, message: `the query of a tenant failed (${reason})` };
}
