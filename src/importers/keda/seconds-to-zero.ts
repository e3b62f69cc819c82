import { decide } from '../../decision/decide.js';
import { EMPTY_STATE, type Sample, type Snapshot } from '../../decision/snapshot/snapshot.js';
import { parseScaler } from '../../scaler/read/parse-scaler.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import type { PlainObject } from '../../scaler/plain-json.js';
import { addSeconds, instantFromMs } from '../../units/time.js';

/** The fields of a document that determine how fast it scales to 0. */
export interface Decline {
  readonly maxReplicas: number;
  readonly behavior: PlainObject | undefined;
  readonly cooldownSeconds: number;
  readonly syncPeriodSeconds: number | undefined;
}

/** Limits the simulated rounds: 8 hours with a round every 15 s, which are computed in less than a second. */
const MOST_ROUNDS = 2000;

/**
 * Returns after how many seconds without activity a workload with `maxReplicas` has 0 replicas, if each decision is
 * applied at once. Null: it still has replicas after 2,000 rounds, or the fields are invalid.
 */
export function secondsToZero(spec: Decline): number | null {
  const external = { query: 'sum(load)', target: { averageValue: 1 }, activation: { above: 0 } };
  const { scaler } = parseScaler({
    apiVersion: API_VERSION,
    kind: 'Scaler',
    metadata: { name: 'a', namespace: 'a' },
    spec: { ...spec, scaleTargetRef: { name: 'a' }, minReplicas: 0, metrics: [{ external }] },
  });
  if (scaler === null) return null;
  let [replicas, state]: readonly [number, Snapshot['state']] = [spec.maxReplicas, EMPTY_STATE];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const seconds = round * scaler.spec.syncPeriodSeconds;
    const now = addSeconds(instantFromMs(0), seconds);
    const values = [round === 0 ? spec.maxReplicas : 0];
    const samples: readonly Sample[] = [{ form: 'values', at: now, values, partial: null }];
    const target = { specReplicas: replicas, statusReplicas: replicas };
    const decision = decide({ scaler, now, target, pods: [], samples, state });
    if (decision.desiredReplicas === 0) return seconds;
    replicas = decision.desiredReplicas;
    ({ state } = decision);
  }
  return null;
}
