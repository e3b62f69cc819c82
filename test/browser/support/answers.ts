import type { Overview, OverviewRow, ScalerState, ServiceStatus } from '../../../src/api/answers.js';
import { STATES } from '../../../src/decision/severity.js';

/** The time of all canned answers. */
export const AT = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString().replace('.000Z', 'Z');

/** Returns a time so many seconds after `AT`. */
export function after(seconds: number): string {
  return new Date(Date.parse(AT) + seconds * 1000).toISOString().replace('.000Z', 'Z');
}

export function stateOf(name: ScalerState['name'], changes: Partial<ScalerState> = {}): ScalerState {
  return { name, severity: STATES[name], cause: null, since: after(-600), until: null, ...changes };
}

export function rowOf(changes: Partial<OverviewRow> = {}): OverviewRow {
  const name = changes.name ?? 'web';
  return {
    namespace: 'shop',
    name,
    kind: 'Deployment',
    target: name,
    current: 4,
    desired: 4,
    min: 2,
    max: 10,
    state: stateOf('OK'),
    metric: { name: 'cpu', unit: 'percent', value: 54, target: 60 },
    metrics: 1,
    changedAt: after(-600),
    replicas: [2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4],
    ...changes,
  };
}

export function overviewOf(rows: readonly OverviewRow[], changes: Partial<Overview> = {}): Overview {
  return {
    version: '1.0.0',
    at: AT,
    leader: true,
    revision: '1',
    isComplete: true,
    rows: [...rows],
    removed: [],
    problems: 0,
    ...changes,
  };
}

/** The row of a document without a valid version. */
export function invalidRow(changes: Partial<OverviewRow> = {}): OverviewRow {
  return rowOf({
    kind: null,
    target: null,
    current: null,
    desired: null,
    min: null,
    max: null,
    metric: null,
    metrics: 0,
    changedAt: null,
    replicas: [],
    state: stateOf('Invalid', { cause: 'spec.maxReplica: unknown field; did you mean maxReplicas?' }),
    rejections: [
      {
        severity: 'error',
        code: 'field.unknown',
        message: 'unknown field; did you mean maxReplicas?',
        path: 'spec.maxReplica',
        file: 'config/scalers/web.yaml',
        line: 9,
        scaler: 'shop/web',
      },
    ],
    ...changes,
  });
}

const NAMESPACES = ['billing', 'checkout', 'data', 'search', 'shop', 'web'];
const NAMES = ['api', 'cache', 'cart', 'frontend', 'gateway', 'indexer', 'mailer', 'orders', 'worker'];

/** Returns a fleet in which a tenth of the scalers is in some state; always the same one. */
export function fleetOf(count: number): readonly OverviewRow[] {
  const rows = Array.from({ length: count }, (_, index) => fleetRow(index));
  return rows.sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function fleetRow(index: number): OverviewRow {
  const namespace = NAMESPACES[index % NAMESPACES.length] ?? 'shop';
  const name = `${NAMES[index % NAMES.length] ?? 'web'}-${String(index).padStart(4, '0')}`;
  const max = 10 + (index % 5) * 10;
  const wave = (at: number): number =>
    Math.round(2 + ((max - 2) / 2) * (1 + Math.sin((at + index) / 4)) * 0.8);
  const current = wave(23);
  const replicas = Array.from({ length: 24 }, (_, at) => wave(at));
  const metric: OverviewRow['metric'] =
    [
      { name: 'cpu', unit: 'percent' as const, value: 20 + ((index * 7) % 70), target: 60 },
      {
        name: 'http_requests_per_second',
        unit: 'average' as const,
        value: 60 + ((index * 13) % 60),
        target: 100,
      },
      { name: 'memory', unit: 'average' as const, value: 5e8 + ((index * 37) % 100) * 1e6, target: 7e8 },
    ][index % 3] ?? null;
  const calm = { namespace, name, target: name, current, desired: current, min: 2, max, metric, replicas };
  return rowOf({
    ...calm,
    metrics: 1 + (index % 3),
    changedAt: after(-60 * (1 + (index % 500))),
    ...special(index, calm),
  });
}

function special(
  index: number,
  { current, max }: { readonly current: number; readonly max: number },
): Partial<OverviewRow> {
  switch (index % 40) {
    case 3:
      return {
        desired: current + 2,
        state: stateOf('RateLimited', {
          cause: `${current + 9} recommended, at most 2 pods in 60 s`,
        }),
      };
    case 11:
      return {
        state: stateOf('Stabilizing', {
          cause: `1 recommended, ${current} was recommended 120 s ago and counts for 300 s`,
          until: after(180),
        }),
      };
    case 17:
      return {
        current: max,
        desired: max,
        state: stateOf('AtMaximum', { cause: `${max + 4} recommended, maxReplicas is ${max}` }),
      };
    case 23:
      return {
        state: stateOf('Paused', { cause: 'by annotation' }),
      };
    case 29:
      return index % 80 === 29
        ? {
            current: null,
            desired: null,
            metric: null,
            state: stateOf('NoData', { cause: 'queue_length: no series' }),
          }
        : { state: stateOf('DryRun', { cause: `would keep ${current} replicas` }) };
    default:
      return {};
  }
}

/** Texts that a page must only show. */
export const HOSTILE = {
  html: '<img src=x onerror="alert(1)"><script>alert(2)</script>',
  rightToLeft: '\u202Egnp.exe',
  arabic: 'خدمة-الدفع',
  emoji: '🚀-service-👩‍💻',
  long: 'a'.repeat(253),
  path: '../../../api/v1/scalers?x=1#y',
} as const;

export function hostileRows(): readonly OverviewRow[] {
  return Object.values(HOSTILE).map((text) =>
    rowOf({
      namespace: text,
      name: text,
      target: text,
      kind: text,
      state: stateOf('NoData', { cause: text, until: after(60) }),
      metric: { name: text, unit: 'total', value: 1e21, target: 1 },
    }),
  );
}

export function serviceOf(changes: Partial<ServiceStatus> = {}): ServiceStatus {
  return {
    version: '1.0.0',
    at: AT,
    startedAt: after(-93_600),
    identity: 'promscaler-7d9f5c6b8-x2x9z',
    leader: 'promscaler-7d9f5c6b8-x2x9z',
    replicas: [{ identity: 'promscaler-7d9f5c6b8-x2x9z', scalers: 42, isReachable: true }],
    dataSources: [
      {
        name: 'default',
        urls: ['http://prometheus.monitoring:9090'],
        isReachable: true,
        failingSince: null,
        lastError: null,
        queries: 128_400,
        errors: 0,
        latencySeconds: 0.0124,
        holdUntil: null,
      },
    ],
    kubernetes: { isReachable: true, failingSince: null, requests: 5310, errors: 2, lastError: null },
    rounds: {
      periodSeconds: 15,
      last: { at: after(-4), seconds: 0.182, latenessSeconds: 0.003, scalers: 42 },
      missed: 0,
    },
    problems: [],
    conflicts: [],
    lastOutcomes: [
      {
        namespace: 'shop',
        name: 'web',
        at: after(-600),
        outcome: { kind: 'patched', from: 3, to: 4, message: 'scaled from 3 to 4' },
      },
    ],
    ...changes,
  };
}

/** A service in which nothing works. */
export function failingService(): ServiceStatus {
  return serviceOf({
    leader: null,
    replicas: [
      { identity: 'promscaler-0', scalers: 2500, isReachable: true },
      { identity: 'promscaler-1', scalers: null, isReachable: false },
    ],
    dataSources: [
      {
        name: 'default',
        urls: ['http://prometheus.monitoring:9090'],
        isReachable: false,
        failingSince: after(-600),
        lastError: { at: after(-4), message: 'prometheus.monitoring:9090: connection refused' },
        queries: 5000,
        errors: 5000,
        latencySeconds: null,
        holdUntil: after(170),
        dependents: 214,
      },
      {
        name: 'long-term',
        urls: ['http://thanos.monitoring:9090'],
        isReachable: null,
        failingSince: null,
        lastError: null,
        queries: 0,
        errors: 0,
        latencySeconds: null,
        holdUntil: null,
      },
    ],
    kubernetes: {
      isReachable: false,
      failingSince: after(-30),
      requests: 120,
      errors: 40,
      lastError: { at: after(-2), message: 'the API server answered 503: etcd leader changed' },
    },
    rounds: {
      periodSeconds: 15,
      last: { at: after(-50), seconds: 14.2, latenessSeconds: 20.5, scalers: 2500 },
      missed: 3,
    },
    problems: [
      {
        severity: 'error',
        code: 'field.unknown',
        message: 'unknown field maxReplica; did you mean maxReplicas?',
        file: 'config/scalers/web.yaml',
        line: 9,
        excerpt: '  8 |   minReplicas: 2\n  9 |   maxReplica: 10\n    |   ^^^^^^^^^^\n 10 |   metrics:',
      },
      {
        severity: 'warning',
        code: 'metric.window',
        message: 'the window of the query is shorter than two scrape intervals',
        file: null,
        line: null,
        excerpt: null,
      },
    ],
    conflicts: [
      {
        namespace: 'shop',
        name: 'web',
        message: 'kubectl-client-side-apply replaces spec.replicas again and again',
      },
    ],
    lastOutcomes: [],
  });
}
