import type { ObjectVerdict } from '../../../src/config/read-objects.js';
import type { ObjectStatus } from '../../../src/control/status/stored-status.js';
import type { JsonObject } from '../../../src/kubernetes/api/json.js';
import type { ScalerObject } from '../../../src/kubernetes/scaler-objects.js';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLedger, type LedgerEntry } from '../../../src/telemetry/ledger.js';
import { condition, record, scaler } from '../../telemetry/record-builder.js';

export const SPEC = '{"maxReplicas":3}';

/** `shop/web` on the API server, at generation 2. */
export function object(overrides: Partial<ScalerObject> = {}): ScalerObject {
  return {
    namespace: 'shop',
    name: 'web',
    uid: 'u-web',
    resourceVersion: '10',
    generation: 2,
    specText: SPEC,
    createdAt: null,
    status: null,
    ...overrides,
  };
}

/** Returns the object with this status. */
export function showing(before: ScalerObject, status: ObjectStatus): ScalerObject {
  const resourceVersion = String(Number(before.resourceVersion) + 1);
  return { ...before, resourceVersion, status: JSON.parse(JSON.stringify(status)) as JsonObject };
}

/** The scaler in effect for `shop/web`. */
export const WEB: Scaler = scaler();

export function verdict(overrides: Partial<ObjectVerdict> = {}): ObjectVerdict {
  return { specText: SPEC, problems: [], scaler: WEB, ...overrides };
}

export function problem(overrides: Partial<Problem> = {}): Problem {
  return {
    code: 'replica-bounds',
    severity: 'error',
    message: 'spec.minReplicas is 5, must be at most spec.maxReplicas (3)',
    file: 'scalers.promscaler.dev/shop/web',
    place: { line: 6, column: 3 },
    path: 'spec.minReplicas',
    sourceLine: '  minReplicas: 5',
    ...overrides,
  };
}

export const ACTIVE = condition({ type: 'ScalingActive', reason: 'ValidMetricFound' });

/** The state in the ledger after one cycle of `WEB` with all conditions true. */
export function cycle(overrides: Partial<CycleRecord> = {}): LedgerEntry {
  const one = record({ scaler: WEB, conditions: [condition(), ACTIVE], ...overrides });
  return createLedger().add(one).after;
}
