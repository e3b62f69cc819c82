import { runCycle } from '../../src/control/cycle/cycle.js';
import type { CycleInput, CycleOutput, CyclePorts } from '../../src/control/cycle/types.js';
import { alwaysLeads } from '../../src/control/election/leadership.js';
import { addServers, readAges } from '../../src/control/rounds/readings.js';
import type { RoundAnswers } from '../../src/prometheus/metric-source.js';

/** A cycle before its answers are there. By default, its process leads, and nobody else scales its target. */
export interface WaitingCycle
  extends
    Pick<CycleInput, 'scaler' | 'memory' | 'now'>,
    Partial<Pick<CycleInput, 'leadership' | 'sharesTargetWith' | 'isCurrent' | 'signal'>> {
  readonly answers: RoundAnswers;
}

/** Waits for the answers of a scaler, as the controller does, and runs its cycle. */
export async function answerAndRun(waiting: WaitingCycle, ports: CyclePorts): Promise<CycleOutput> {
  const { scaler, answers } = waiting;
  const sinceMs = ports.clock.monotonicMs();
  const results = await answers.of(scaler);
  const ages = await readAges(addServers(new Map(), scaler.spec.metrics, results), answers);
  const input = {
    leadership: alwaysLeads('test'),
    sharesTargetWith: null,
    isCurrent: () => true,
    signal: new AbortController().signal,
    ...waiting,
    readings: { results, ages, sinceMs },
  };
  return runCycle(input, ports);
}
