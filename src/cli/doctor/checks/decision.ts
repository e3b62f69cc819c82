import { runCycle } from '../../../control/cycle.js';
import { UNKNOWN_AGE } from '../../../prometheus/source-age.js';
import { alwaysLeads } from '../../../control/election/leadership.js';
import { freshMemory } from '../../../control/memory/memory.js';
import { metricObserver } from '../../../control/observe/observe-metrics.js';
import { stateInMemory } from '../../../kubernetes/state/state-store.js';
import type { CyclePorts, ObserveMetrics } from '../../../control/ports.js';
import { EMPTY_STATE } from '../../../decision/snapshot.js';
import { KubernetesError, type Cluster } from '../../../kubernetes/types.js';
import { scalerKey } from '../../../scaler/spec.js';
import { type Finding, findingsOf } from '../finding.js';
import type { ClusterInquiry } from '../inquiry.js';
import type { ClusterFacts, ScalerFacts } from '../scaler-facts.js';

/** What the service would decide now: one real cycle on what was read, which changes nothing. */
export async function checkDecision(facts: ScalerFacts): Promise<readonly Finding[]> {
  const { scaler, cluster, inquiry } = facts;
  const make = findingsOf('decision', scalerKey(scaler));
  if (cluster === null || inquiry === null) return [make.skipped('the cluster does not answer')];
  if (cluster.target instanceof KubernetesError) return [make.skipped('the target cannot be read')];
  if (cluster.pods instanceof KubernetesError) return [make.skipped('the pods cannot be read')];
  if (scaler.spec.metrics.every(({ source }) => !facts.sources.has(source)))
    return [make.skipped('no data source of its metrics answers')];
  const { clock, signal } = inquiry;
  const now = clock.now();
  const answers = { of: () => Promise.resolve(facts.answers), ageOf: () => Promise.resolve(UNKNOWN_AGE) };
  const { record } = await runCycle(
    {
      scaler,
      // Not as after a restart of the service, which would hold back everything for its windows.
      memory: { ...freshMemory(now, null), state: EMPTY_STATE },
      now,
      answers,
      sharesTargetWith: facts.sharesTargetWith,
      isCurrent: () => false,
      signal,
    },
    portsOf(inquiry, cluster),
  );
  const failing = record.conditions.find(
    ({ type, status }) => status === 'False' && (type === 'AbleToScale' || type === 'ScalingActive'),
  );
  const { decision } = record;
  if (decision === null) return [make.skipped(failing?.message ?? 'nothing could be decided')];
  const held = holdWords(facts);
  const sentence = `it would decide now: ${decision.reason}${held}`;
  if (failing?.type === 'ScalingActive')
    return [
      make.warning(
        sentence,
        'see the findings above: until they are mended, a metric without a value moves nothing',
      ),
    ];
  const far = decision.metrics.find(({ ratio }) => ratio !== null && ratio > FAR_OFF);
  if (far !== undefined)
    return [
      make.warning(
        `${sentence}; ${far.name} is ${Math.round(far.ratio ?? 0)} times its target`,
        "look at the unit of the target: a quantity of the query's own unit (bytes: 500Mi, cores: 500m, seconds and not milliseconds)",
      ),
    ];
  return [make.ok(sentence)];
}

/** A workload is rarely so far from its target; a target in another unit always is. */
const FAR_OFF = 100;

function holdWords({ scaler: { spec }, isDryRun }: ScalerFacts): string {
  if (spec.paused === true) return ' (not carried out: spec.paused is true)';
  if (spec.paused !== false) return ` (no ${spec.paused} is carried out: spec.paused says so)`;
  if (spec.dryRun) return ' (not carried out: spec.dryRun is true)';
  return isDryRun ? ' (not carried out: the service runs with --dry-run)' : '';
}

function portsOf(inquiry: ClusterInquiry, facts: ClusterFacts): CyclePorts {
  const { clock, config } = inquiry;
  const sources = new Map(Object.entries(config.prometheus));
  const observe = metricObserver({ sources, recoveryHoldMaxSeconds: config.recoveryHoldMaxSeconds });
  // The hold is for a service that has not seen earlier values: here it would hide what the metrics ask for.
  const observeMetrics: ObserveMetrics = async (input) => {
    const seen = await observe(input);
    return { ...seen, holdScaleDownUntil: null, holdReason: null };
  };
  return {
    clock,
    cluster: readOnlyCluster(facts),
    observeMetrics,
    dryRun: true,
    leadership: alwaysLeads('doctor'),
    state: stateInMemory(),
    takeTurn: () => Promise.resolve(() => undefined),
  };
}

/** What was read, as the loop wants to see it. It writes nothing. */
function readOnlyCluster({ target, pods, others }: ClusterFacts): Cluster {
  const give = <T>(value: T | KubernetesError): T => {
    if (value instanceof KubernetesError) throw value;
    return value;
  };
  const refuse = (): never => {
    throw new Error('the doctor changes nothing');
  };
  return {
    run: () => Promise.resolve(),
    follow: () => undefined,
    isSynced: () => true,
    readTarget: () => Promise.resolve(give(target)),
    listPods: () => give(pods ?? []).map(({ pod }) => pod),
    problemOf: () => null,
    cacheAgeSeconds: () => 0,
    readScale: () => Promise.resolve(give(target)),
    patchScale: refuse,
    recordEvent: () => undefined,
    listOtherScalers: () => Promise.resolve(others instanceof KubernetesError ? [] : others),
  };
}
