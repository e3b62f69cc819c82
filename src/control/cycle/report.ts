import type { ScaleTarget, TargetEvent } from '../../kubernetes/api/types.js';
import type { OutcomeKind } from '../../telemetry/cycle-record.js';
import type { Recorder } from '../../telemetry/recorder.js';
import { isQuiet } from '../../telemetry/service-events.js';
import type { Log } from '../../units/log.js';
import type { CycleOutput } from './ports.js';
import { kubernetesEvents } from './kubernetes-events.js';

export interface CycleReportPorts {
  readonly recorder: Recorder;
  /** `scaler` is NAMESPACE/NAME. */
  readonly recordEvent: (target: ScaleTarget, event: TargetEvent, scaler: string) => void;
  readonly isLeading: () => boolean;
  readonly log: Log;
  readonly onCycle?: ((output: CycleOutput) => void) | undefined;
}

/** Outcomes after a request was sent to the API server. */
const SENT: ReadonlySet<OutcomeKind> = new Set(['patched', 'replaced', 'failed']);

/**
 * Reports a cycle to ledger, metrics, log, Events and `onCycle`. A cycle that was canceled at the end of its term is
 * reported only if it sent a change of replicas: a canceled query is not a failure. Never throws, so that the caller
 * keeps the memory of the cycle.
 */
export function reportCycle(
  output: CycleOutput,
  { isCanceled }: { readonly isCanceled: boolean },
  ports: CycleReportPorts,
): void {
  const { record, target } = output;
  if (isCanceled && !SENT.has(record.outcome.kind)) return;
  try {
    const { before, after } = ports.recorder.record(record);
    if (target !== null && !isQuiet(before, after)) {
      const standing =
        before === null
          ? null
          : {
              conditions: before.conditions,
              outcome: before.record.outcome,
              conflictingWriter: before.record.conflictingWriter,
            };
      for (const event of kubernetesEvents(standing, record)) ports.recordEvent(target, event, after.key);
    }
    ports.onCycle?.(output);
  } catch (error) {
    ports.log.error('failed to record cycle', { scaler: record.scaler.key, error });
  }
  // The term may end during a cycle. A standby logs the result, but must not expose a scaler that the leader
  // exposes.
  if (!ports.isLeading()) ports.recorder.remove(record.scaler.key);
}
