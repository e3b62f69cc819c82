import { valueAt } from '../scaler/plain-json.js';
import { countAre, formatSeconds } from '../units/format.js';
import {
  command,
  hasAnnotations,
  keyOf,
  kubectl,
  raiseLimit,
  type Remedy,
  setRequests,
  type Snippet,
  type TroubledScaler,
} from './snippet.js';

/** Returns what to do about metrics without a value. */
export function findData(scaler: TroubledScaler): readonly Remedy[] {
  const unanswered = scaler.metrics.find(({ noAnswer }) => noAnswer !== undefined)?.noAnswer;
  const fix = { text: 'Run doctor to find the fix', snippet: doctor(scaler) };
  if (unanswered === undefined) {
    const defect = reportDefect(scaler);
    const isAll = defect.length > 0 && scaler.metrics.every((one) => one.error === null || isDefect(one));
    return [...defect, ...addRequests(scaler), ...(isAll ? [] : [fix]), ...tryQueries(scaler)];
  }
  const meanwhile = keptMeanwhile(scaler);
  const { host, isDown } = unanswered;
  if (!isDown) return [{ ...fix, text: `${fix.text}; ${meanwhile}` }, ...tryQueries(scaler)];
  const pods = podsAt(host ?? '');
  const whatElse = 'the url in the service config or a NetworkPolicy may be wrong';
  const steps: readonly Remedy[] =
    pods === null
      ? [
          {
            text: `Test the connection to ${host ?? 'Prometheus'}; ${meanwhile}`,
            snippet: fix.snippet,
          },
          { text: `Check whether Prometheus runs there. If it does, ${whatElse}`, snippet: null },
        ]
      : [
          { text: `Check whether the pods of Prometheus run; ${meanwhile}`, snippet: pods },
          { text: `If they run, ${whatElse}. Test the connection`, snippet: fix.snippet },
        ];
  return [...steps, ...tryQueries(scaler)];
}

/**
 * Returns what happens to the count until the metrics have values. As long as one metric has a value, it can still
 * raise the count.
 */
function keptMeanwhile({ metrics, currentReplicas, document }: TroubledScaler): string {
  const isMissing = ({ error }: TroubledMetric): boolean => error !== null;
  if (!metrics.some(isMissing)) return 'meanwhile the fallback applies';
  const isKept = metrics.every(isMissing) && currentReplicas !== null;
  const kept = isKept ? `${countAre(currentReplicas, 'replica')} kept` : 'nothing is scaled down';
  const after = valueAt(document, ['spec', 'fallback', 'afterSeconds']);
  return `meanwhile ${kept}${typeof after === 'number' ? `, and the fallback applies after ${formatSeconds(after)}` : ''}`;
}

type TroubledMetric = TroubledScaler['metrics'][number];

function isDefect({ errorReason }: TroubledMetric): boolean {
  return errorReason === 'internal_error';
}

function reportDefect({ metrics }: TroubledScaler): readonly Remedy[] {
  const text = 'Report the defect of promscaler, with the line "query failed: internal error" of its log';
  return metrics.some(isDefect) ? [{ text, snippet: null }] : [];
}

/**
 * Returns the containers without a request, or with a request of 0, and the resource; null: the error is about
 * something else.
 */
function readMissingRequest(error: string | null) {
  const [, containers, resource] =
    /^containers? (.+) requests? (?:no|0) (\S+) \(pod /.exec(error ?? '') ?? [];
  return containers === undefined || resource === undefined
    ? null
    : { containers: containers.split(/, | and /), resource, isZero: / requests? 0 /.test(error ?? '') };
}

function addRequests(scaler: TroubledScaler): readonly Remedy[] {
  if (!hasAnnotations(scaler)) return [];
  return scaler.metrics.flatMap(({ error }): readonly Remedy[] => {
    const missing = readMissingRequest(error);
    if (missing === null) return [];
    const { resource, containers, isZero } = missing;
    const text = `Set a ${resource} request that fits the workload, also in its manifest${isZero ? `; ${raiseLimit(resource)}` : ''}`;
    return [{ text, snippet: setRequests(scaler, resource, containers) }];
  });
}

/**
 * Returns remedies for queries that were answered without a usable value. Metrics whose pods lack a request are
 * omitted, because their queries are not the cause.
 */
function tryQueries(scaler: TroubledScaler): readonly Remedy[] {
  return scaler.metrics.flatMap((one, index): readonly Remedy[] => {
    const { metric, error, noAnswer, readAsZero } = one;
    const isAnswered =
      error !== null && noAnswer === undefined && readMissingRequest(error) === null && !isDefect(one);
    const snippet = isAnswered || readAsZero !== undefined ? queryAt(scaler, `spec.metrics[${index}]`) : null;
    return snippet === null ? [] : [{ text: `Try the query of ${metric} in Prometheus`, snippet }];
  });
}

/** Returns the query at `path` of the document as it is sent; null: unknown. */
export function queryAt({ queries = [] }: TroubledScaler, path: string): Snippet | null {
  const { query, graphUrl } = queries.find((one) => one.path === path) ?? { query: null, graphUrl: null };
  return query === null ? null : { kind: 'query', text: query, ...(graphUrl === null ? {} : { graphUrl }) };
}

/** Returns the command that runs `doctor` for a scaler where the service runs, or locally if that is unknown. */
export function doctor(scaler: TroubledScaler): Snippet {
  return command(scaler.doctor ?? `promscaler doctor ${keyOf(scaler)} --config promscaler.yaml`);
}

/**
 * Returns the command that lists the pods in the namespace of a Service, for an address in the cluster such as
 * `prometheus.monitoring:9090`; null: the address may be outside of the cluster.
 */
export function podsAt(host: string): Snippet | null {
  const [, namespace] = /^[a-z][a-z\d-]*\.([a-z\d-]+)(?:\.svc(?:\.[a-z\d.-]+)?)?(?::\d+)?$/.exec(host) ?? [];
  return namespace === undefined || DOMAINS.has(namespace) ? null : kubectl(namespace, 'get', 'pods');
}

/** Last labels of host names outside of the cluster: in `prometheus.internal`, `internal` is not a namespace. */
const DOMAINS: ReadonlySet<string> = new Set(['com', 'org', 'net', 'io', 'dev', 'internal', 'local', 'lan']);
