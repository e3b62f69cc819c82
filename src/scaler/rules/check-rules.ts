import {
  type Finding,
  finding,
  formatPath,
  formatValue,
  type IsBroken,
  type Path,
} from '../problems/finding.js';
import { ignoredOfDocument } from '../annotations.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { checkMetricForm } from './metric-form-rules.js';
import { checkMetricQuery, checkSideQuery } from './query-rules.js';
import { PRESETS, BUILT_IN } from '../schema/presets.js';
import { MEMBERS, queriedBody } from '../resolve/metric-form.js';
import { identityOf, resolveReference } from '../resolve/resolve-metric.js';
import { toleranceNumber, parseQuantity } from '../../units/quantity.js';
import { checkActivation, checkWakeUp } from './activation-rules.js';
import { checkForecast } from './forecast-rules.js';
import { checkMetricTypes, checkSaturation } from './metric-type-rules.js';
import { checkSchedules } from './schedule-rules.js';
import { type ServiceFacts, isMetricsql } from './admission-rules.js';
import type { DocumentInput, Loose, MetricInput, SpecInput } from '../schema/document-schema.js';
import { checkPodLabel } from './query-result-rules.js';

type LooseSpec = Loose<SpecInput>;

/**
 * Checks all rules across fields, on the fields that could be read. `service` contains the flavor of each data source;
 * default: all are Prometheus. Source: contract.md section 2.
 */
export function checkRules(
  document: Loose<DocumentInput>,
  isBroken: IsBroken,
  service?: Pick<ServiceFacts, 'sources'>,
): readonly Finding[] {
  const spec = document.spec ?? {};
  return [
    ...checkBounds(spec, isBroken),
    ...checkTarget(spec),
    ...checkTolerances(spec),
    ...checkScaleUpLimit(spec, isBroken),
    ...checkStabilization(spec, isBroken),
    ...checkRanges(spec, isBroken),
    ...checkSchedules(spec, isBroken),
    ...checkActivation(spec, isBroken),
    ...checkFallback(spec, isBroken),
    ...checkDeletionCost(spec, isBroken, isMetricsql(service, spec.podDeletionCost?.source)),
    ...checkCeiling(spec, isBroken, isMetricsql(service, spec.maxReplicasFrom?.source)),
    ...checkMetricTypes(spec, isBroken),
    ...checkSaturation(spec, isBroken, isMetricsql(service, undefined)),
    ...checkForecast(spec, isBroken),
    ...checkAnnotations(document.metadata, isBroken),
    ...checkMetrics(spec.metrics ?? [], { isBroken, service, namespace: document.metadata?.namespace }),
  ];
}

function checkAnnotations(
  { name, namespace, annotations }: Loose<DocumentInput['metadata']> = {},
  isBroken: IsBroken,
): readonly Finding[] {
  if (name === undefined || namespace === undefined || isBroken(['metadata', 'annotations'])) return [];
  const written = annotations as Readonly<Record<string, string>> | undefined;
  return ignoredOfDocument(written, { name, namespace }).map(({ key, advice }) => {
    const path = ['metadata', 'annotations', key];
    return { ...finding('annotation-ignored', path, `${key} has no effect here: ${advice}`), at: 'key' };
  });
}

function checkBounds(spec: LooseSpec, isBroken: IsBroken): readonly Finding[] {
  const findings: Finding[] = [];
  const { minReplicas, maxReplicas, metrics } = spec;
  if (minReplicas !== undefined && maxReplicas !== undefined && maxReplicas < minReplicas) {
    const message = `spec.minReplicas is ${minReplicas}, must be at most spec.maxReplicas (${maxReplicas})`;
    findings.push(finding('replica-bounds', ['spec', 'minReplicas'], message));
  }
  const total = (metrics ?? []).some(
    (metric) => metric?.object !== undefined || metric?.external !== undefined,
  );
  const zero = findZero(spec);
  if (zero !== null && !total && !isBroken(['spec', 'metrics'])) {
    const message = `${formatPath(zero)} is 0, which needs an Object or External metric, because other metrics have no value without pods`;
    findings.push(finding('scale-to-zero', zero, message));
  }
  return zero === null ? findings : [...findings, ...checkWakeUp(spec, formatPath(zero))];
}

function findZero({ minReplicas, schedules }: LooseSpec): Path | null {
  if (minReplicas === 0) return ['spec', 'minReplicas'];
  const index = (schedules ?? []).findIndex((schedule) => schedule?.minReplicas === 0);
  return index < 0 ? null : ['spec', 'schedules', index, 'minReplicas'];
}

function checkTarget({ scaleTargetRef }: LooseSpec): readonly Finding[] {
  if (scaleTargetRef?.kind !== 'DaemonSet') return [];
  const message =
    'spec.scaleTargetRef.kind is DaemonSet: a DaemonSet runs one pod on each node and has no replicas to scale';
  return [finding('daemon-set', ['spec', 'scaleTargetRef', 'kind'], message)];
}

function checkTolerances(spec: LooseSpec): readonly Finding[] {
  const { tolerance, behavior } = spec;
  const places: readonly (readonly [Path, string | number | undefined])[] = [
    [['spec', 'tolerance'], tolerance],
    [['spec', 'behavior', 'scaleUp', 'tolerance'], behavior?.scaleUp?.tolerance],
    [['spec', 'behavior', 'scaleDown', 'tolerance'], behavior?.scaleDown?.tolerance],
  ];
  return places
    .filter(([, value]) => (toleranceNumber(value) ?? 0) > 1)
    .map(([path, value]) => {
      const message = `${formatPath(path)} is ${formatValue(value)}, must be at most 1 (0.1 is 10 %)`;
      return finding('tolerance-above-one', path, message);
    });
}

/**
 * Reports a limit that allows no scale-up. CHPA limits a scale-up to `max(minimum, trunc(factor x replicas))`, so if
 * the factor is 1, only the minimum allows a scale-up.
 */
function checkScaleUpLimit(spec: LooseSpec, isBroken: IsBroken): readonly Finding[] {
  if (['scaleUpLimitMinimum', 'minReplicas'].some((field) => isBroken(['spec', field]))) return [];
  const minimum = spec.scaleUpLimitMinimum ?? BUILT_IN.scaleUpLimitMinimum;
  const minReplicas = spec.minReplicas ?? BUILT_IN.minReplicas;
  if (spec.scaleUpLimitFactor !== 1 || minimum > minReplicas) return [];
  const message =
    `spec.scaleUpLimitFactor is 1 and the scaleUpLimitMinimum of ${minimum} is not above minReplicas (${minReplicas}): ` +
    'the workload is never scaled up';
  return [finding('never-scales-up', ['spec', 'scaleUpLimitFactor'], message)];
}

/** Warns if there is no stabilization: a single wrong result then scales down. Source: reliability.md, decision 4. */
function checkStabilization(spec: LooseSpec, isBroken: IsBroken): readonly Finding[] {
  const { behavior, preset = BUILT_IN.preset, downscaleStabilizationSeconds, downscaleConfirmation } = spec;
  if (downscaleConfirmation !== undefined || stabilizationSeconds(spec, isBroken) !== 0) return [];
  const window = behavior?.scaleDown?.stabilizationWindowSeconds;
  const path = stabilizationPath(window !== undefined, downscaleStabilizationSeconds !== undefined);
  const cause = path.at(-1) === 'preset' ? `spec.preset ${preset}` : `${formatPath(path)}: 0`;
  const message = `${cause} disables stabilization: a single low recommendation scales down immediately; set downscaleConfirmation: {} to require three low recommendations in a row`;
  return [finding('unconfirmed-scale-down', path, message)];
}

/**
 * The fields that determine the stabilization window. If one of them is invalid, the window is unknown: its default
 * does not apply.
 */
const WINDOW_FIELDS: readonly Path[] = [
  ['spec', 'preset'],
  ['spec', 'downscaleStabilizationSeconds'],
  ['spec', 'behavior', 'scaleDown', 'stabilizationWindowSeconds'],
];

/** Returns the stabilization window of scale-downs; null: the window is unknown, or nothing scales down. */
function stabilizationSeconds(spec: LooseSpec, isBroken: IsBroken): number | null {
  const { behavior, preset = BUILT_IN.preset, downscaleStabilizationSeconds } = spec;
  if (behavior?.scaleDown?.selectPolicy === 'Disabled' || WINDOW_FIELDS.some(isBroken)) return null;
  const scalerWide = downscaleStabilizationSeconds ?? PRESETS[preset].downscaleStabilizationSeconds;
  return behavior?.scaleDown?.stabilizationWindowSeconds ?? scalerWide;
}

/**
 * Warns if the range of a query is longer than the stabilization window of scale-downs. While the range lacks samples,
 * for example after a gap, a rate is too low, and every recommendation in a shorter window is too low, too. If there is
 * no stabilization, `unconfirmed-scale-down` is reported instead.
 */
function checkRanges(spec: LooseSpec, isBroken: IsBroken): readonly Finding[] {
  const window = stabilizationSeconds(spec, isBroken);
  if (window === null || window === 0) return [];
  return (spec.metrics ?? []).flatMap((metric, index) => {
    const { member, body } = queriedBody(metric) ?? {};
    const range = body?.query === undefined ? 0 : largestWrittenRangeSeconds(body.query);
    if (member === undefined || range <= window) return [];
    const path = ['spec', 'metrics', index, member, 'query'];
    const message = `${formatPath(path)} has a range of ${range} s, longer than the stabilization window of scale-downs (${window} s): while the range lacks samples, all values within the stabilization window may be too low`;
    return [finding('range-above-stabilization', path, message)];
  });
}

function stabilizationPath(hasWindow: boolean, hasScalerWide: boolean): Path {
  if (hasWindow) return ['spec', 'behavior', 'scaleDown', 'stabilizationWindowSeconds'];
  return hasScalerWide ? ['spec', 'downscaleStabilizationSeconds'] : ['spec', 'preset'];
}

function checkMetrics(
  metrics: readonly (Loose<MetricInput> | undefined)[],
  context: Omit<Parameters<typeof checkMetricQuery>[2], 'isWellFormed'>,
): readonly Finding[] {
  const { isBroken } = context;
  const findings: Finding[] = [];
  const seen = new Map<string, number>();
  metrics.forEach((metric, index) => {
    if (metric === undefined) return;
    const path = ['spec', 'metrics', index];
    const formFinding = checkMetricForm(metric, path, isBroken);
    findings.push(
      ...(formFinding === null ? [] : [formFinding]),
      ...checkTargetUnit(metric, path),
      ...checkMetricQuery(metric, path, { ...context, isWellFormed: formFinding === null }),
    );
    const member = MEMBERS.find((candidate) => metric[candidate] !== undefined);
    const identity = identityOf(metric);
    if (member === undefined || identity === null) return;
    const key = `${member} ${identity}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else findings.push(duplicate(path, { member, identity }, first));
  });
  return findings;
}

/**
 * Reports a metric whose type and identity, which together must be unique in a document, are those of an earlier one.
 */
function duplicate(
  path: Path,
  { member, identity }: { readonly member: (typeof MEMBERS)[number]; readonly identity: string },
  first: number,
): Finding {
  const isOfResource = member === 'resource' || member === 'containerResource';
  const instead = isOfResource
    ? 'remove one of the two metrics'
    : 'set another metric.name in one of the two metrics';
  const message = `${formatPath(path)} has the same type and name as spec.metrics[${first}] (${member} ${identity}): ${instead}`;
  return finding('duplicate-metric', path, message);
}

const DELETION_COST = ['spec', 'podDeletionCost'];
const RANKING_QUERY = [...DELETION_COST, 'query'];

/** Checks that the query returns one series per pod, and that the controller of the target reads the annotation. */
function checkDeletionCost(
  spec: Loose<SpecInput>,
  isBroken: IsBroken,
  isMetricsql: boolean,
): readonly Finding[] {
  const { podDeletionCost } = spec;
  if (
    podDeletionCost === undefined ||
    (Object.keys(podDeletionCost).length === 0 && !isBroken(DELETION_COST))
  )
    return [];
  const { query } = podDeletionCost;
  const findings = [...checkDeletionCostTarget(spec)];
  if (query === undefined) {
    if (!isBroken(RANKING_QUERY))
      findings.push(finding('missing-field', RANKING_QUERY, `${formatPath(RANKING_QUERY)} is missing`));
    return findings;
  }
  findings.push(...checkSideQuery(query, RANKING_QUERY, { hasObject: false, isMetricsql }));
  if (findings.every(({ code }) => code !== 'query-type'))
    findings.push(...checkPodLabel({ query, path: RANKING_QUERY }));
  return findings;
}

const CEILING = ['spec', 'maxReplicasFrom'];
const CEILING_QUERY = [...CEILING, 'query'];

function checkCeiling(
  { maxReplicasFrom }: LooseSpec,
  isBroken: IsBroken,
  isMetricsql: boolean,
): readonly Finding[] {
  if (maxReplicasFrom?.query !== undefined)
    return checkSideQuery(maxReplicasFrom.query, CEILING_QUERY, { hasObject: false, isMetricsql });
  if (maxReplicasFrom?.source === undefined || isBroken(CEILING_QUERY)) return [];
  return [finding('missing-field', CEILING_QUERY, `${formatPath(CEILING_QUERY)} is missing`)];
}

/**
 * Reports a target whose controller does not read the annotation. Only the ReplicaSet controller reads it; Deployments
 * use ReplicaSets.
 */
function checkDeletionCostTarget({ scaleTargetRef }: Loose<SpecInput>): readonly Finding[] {
  const { apiVersion, kind } = resolveReference({ ...scaleTargetRef, name: scaleTargetRef?.name ?? '' });
  const isApps = apiVersion.startsWith('apps/');
  if (kind === 'DaemonSet' || (isApps && (kind === 'Deployment' || kind === 'ReplicaSet'))) return [];
  const why =
    isApps && kind === 'StatefulSet'
      ? 'a StatefulSet removes the pod with the highest ordinal first'
      : `no controller reads the deletion cost of the pods of a ${kind}`;
  const message = `${formatPath(DELETION_COST)} has an effect only for a Deployment or ReplicaSet: ${why}`;
  return [{ ...finding('deletion-cost-target', DELETION_COST, message), at: 'key' }];
}

const FALLBACK = ['spec', 'fallback'];

function checkFallback(spec: Loose<SpecInput>, isBroken: IsBroken): readonly Finding[] {
  const { fallback } = spec;
  if (fallback === undefined || (Object.keys(fallback).length === 0 && !isBroken(FALLBACK))) return [];
  for (const field of ['afterSeconds', 'replicas'] as const)
    if (fallback[field] === undefined && !isBroken([...FALLBACK, field]))
      return [finding('missing-field', [...FALLBACK, field], `spec.fallback.${field} is missing`)];
  const { replicas, mode } = fallback;
  const path = [...FALLBACK, 'replicas'];
  const { minReplicas = BUILT_IN.minReplicas, maxReplicas } = spec;
  if (replicas === undefined) return [];
  if (maxReplicas !== undefined && replicas > maxReplicas) {
    const message = `spec.fallback.replicas is ${replicas}, must be at most spec.maxReplicas (${maxReplicas})`;
    return [finding('replica-bounds', path, message)];
  }
  if (replicas < minReplicas) {
    const message = `spec.fallback.replicas is ${replicas}, must be at least spec.minReplicas (${minReplicas})`;
    return [finding('replica-bounds', path, message)];
  }
  if (mode !== 'exact') return [];
  const message = `spec.fallback.mode is exact, so the fallback for a metric without a value may scale down to ${replicas}`;
  return [finding('missing-scales-down', [...FALLBACK, 'mode'], message)];
}

/** The smallest plausible memory target per pod: 1 MiB, in milli-units (thousandths of a byte). */
const LEAST_MEMORY = 1_048_576_000n;

/** The largest plausible CPU target per pod: 256 cores, in milli-units. */
const MOST_CPU = 256_000n;

const DIGITS = /^\d+(?:\.\d+)?/;

/**
 * Warns about a memory target that was probably meant in megabytes, such as `500m` (half a byte), and about a CPU
 * target that was probably meant in millicores.
 */
function checkTargetUnit(metric: Loose<MetricInput>, path: Path): readonly Finding[] {
  const member = metric.resource === undefined ? 'containerResource' : 'resource';
  const body = metric.resource ?? metric.containerResource;
  const written = body?.target?.averageValue ?? body?.targetAverageValue;
  const milli = written === undefined ? null : parseQuantity(written);
  if (written === undefined || milli === null || milli <= 0n) return [];
  const field =
    body?.target?.averageValue === undefined ? ['targetAverageValue'] : ['target', 'averageValue'];
  const fieldPath = [...path, member, ...field];
  const digits = DIGITS.exec(String(written))?.[0] ?? '500';
  const report = (meaning: string, instead: string): readonly Finding[] => {
    const message = `${formatPath(fieldPath)} is ${formatValue(written)}, which is ${meaning} for each pod: write ${instead}`;
    return [finding('target-unit', fieldPath, message)];
  };
  if (body?.name === 'memory' && milli < LEAST_MEMORY) {
    const note = String(written).endsWith('m') ? ' (m is a thousandth)' : '';
    return report(`${Number(milli) / 1000} bytes${note}`, `${digits}Mi or ${digits}M`);
  }
  if (body?.name === 'cpu' && milli > MOST_CPU) return report(`${Number(milli) / 1000} cores`, `${digits}m`);
  return [];
}
