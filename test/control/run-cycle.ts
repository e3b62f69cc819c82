import { runCycle } from '../../src/control/cycle/cycle.js';
import type { CycleInput, CycleOutput, CyclePorts } from '../../src/control/cycle/types.js';
import { alwaysLeads } from '../../src/control/election/leadership.js';
import type { Answer } from '../../src/prometheus/answers/answer.js';

import { type FollowUps, noFollowUps } from '../../src/prometheus/queries/follow-ups.js';
import { ageKey, type SourceAge, urlIndexOf } from '../../src/prometheus/source/age.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { aSource } from '../support/builders.js';

export const FOLLOW_UPS = noFollowUps(new Map([['default', aSource()]]));

/** The answers of a round, and the ages of its servers. */
export interface TestAnswers extends Partial<FollowUps> {
  readonly of: (scaler: Scaler) => Promise<readonly Answer[]>;
  /** To the query of `maxReplicasFrom`. */
  readonly ceiling?: Answer;
  readonly ageOf: (source: string, urlIndex?: number) => Promise<SourceAge>;
}

/** A cycle before its answers have arrived. By default, its process leads, and no other autoscaler has its target. */
export interface WaitingCycle
  extends
    Pick<CycleInput, 'scaler' | 'memory' | 'now'>,
    Partial<Pick<CycleInput, 'leadership' | 'sharesTargetWith' | 'isCurrent' | 'signal'>> {
  readonly answers: TestAnswers;
}

/** Waits for the answers of a scaler and runs its cycle. */
export async function answerAndRun(waiting: WaitingCycle, ports: CyclePorts): Promise<CycleOutput> {
  const { scaler, answers } = waiting;
  const sinceMs = ports.clock.monotonicMs();
  const results = await answers.of(scaler);
  const ages = new Map<string, SourceAge>();
  for (const [index, { source }] of scaler.spec.metrics.entries()) {
    const answer = results[index];
    if (answer?.class !== 'failed')
      ages.set(ageKey(source, answer), await answers.ageOf(source, urlIndexOf(answer)));
  }
  const input = {
    leadership: alwaysLeads('test'),
    sharesTargetWith: null,
    isCurrent: () => true,
    signal: new AbortController().signal,
    ...waiting,
    followUps: { ...FOLLOW_UPS, ...answers },
    readings: {
      answers: results,
      ages,
      sinceMs,
      ...(answers.ceiling === undefined ? {} : { ceiling: answers.ceiling }),
    },
  };
  return runCycle(input, ports);
}
