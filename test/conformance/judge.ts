import { readFileSync } from 'node:fs';
import { startSimulator } from '../../src/simulator/simulator.js';
import { ManualClock } from '../support/manual-clock.js';
import { differences } from './differences.js';
import { type ConformanceAnswer, Conversation } from './exchange.js';
import { REQUESTS } from './requests/all.js';

/** The answer of the simulator to one request, compared with the recording. */
export interface Verdict {
  readonly name: string;
  /** Method and path. */
  readonly request: string;
  readonly status: number;
  /** Differences of the answer; empty if it agrees. */
  readonly differences: readonly string[];
}

/** Sends every request to a fresh simulator and compares each answer with the recorded one, except set-up requests. */
export async function judge(recording: URL): Promise<readonly Verdict[]> {
  const recorded = JSON.parse(readFileSync(recording, 'utf8')) as Readonly<Record<string, ConformanceAnswer>>;
  const clock = new ManualClock();
  const rules = [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['*'] }];
  const simulator = await startSimulator({
    clock,
    rbac: { admin: { user: 'admin', rules } },
    hasControllers: false,
    advertisedAddress: '192.0.2.2:16443',
  });
  try {
    const conversation = new Conversation(simulator.url, 'admin', clock);
    const verdicts: Verdict[] = [];
    for (const request of REQUESTS) {
      const { name, method = 'GET', path } = request;
      const answer = await conversation.send(request);
      if (request.setUp === true) continue;
      const want = recorded[name];
      if (want === undefined) throw new Error(`the recording has no answer to ${name}`);
      verdicts.push({
        name,
        request: `${method} ${path}`,
        status: answer.status,
        differences: answerDifferences(want, answer),
      });
    }
    return verdicts;
  } finally {
    await simulator.close();
  }
}

function answerDifferences(want: ConformanceAnswer, have: ConformanceAnswer): readonly string[] {
  const status = want.status === have.status ? [] : [`status: recorded ${want.status}, here ${have.status}`];
  return [...status, ...differences(want.body, have.body)];
}

/** Returns the last line of a run. */
export function summary(verdicts: readonly Verdict[]): string {
  const agreeing = verdicts.filter((verdict) => verdict.differences.length === 0);
  return `${agreeing.length} of ${verdicts.length} answers have the recorded shape`;
}
