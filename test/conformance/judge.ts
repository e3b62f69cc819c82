import { readFileSync } from 'node:fs';
import { IMITATED_VERSION } from '../../src/simulator/api/discovery.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import { ManualClock } from '../support/manual-clock.js';
import { differences } from './differences.js';
import { type ConformanceAnswer, Conversation } from './exchange.js';
import { REQUESTS } from './requests/all.js';

/** Minor version that the simulator imitates, whose recorded answers it is compared with. */
export const RECORDED = IMITATED_VERSION.split('.').slice(0, 2).join('.');

/** The answer of the simulator to one request, compared with the recording. */
export interface Verdict {
  readonly name: string;
  /** Method and path. */
  readonly request: string;
  readonly status: number;
  /** Differences of the answer; empty if it agrees. */
  readonly differences: readonly string[];
}

/**
 * Sends every request to a fresh simulator and compares each answer with the recorded one in `directory`, except
 * set-up requests.
 */
export async function judge(directory: URL): Promise<readonly Verdict[]> {
  const file = new URL(`kube-apiserver-${RECORDED}.json`, directory);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, ConformanceAnswer>>;
  const clock = new ManualClock();
  const rules = [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['*'] }];
  const simulator = await startSimulator({
    clock,
    rbac: { admin: { user: 'admin', rules } },
    hasControllers: false,
    advertisedAddress: '10.255.0.1:16443',
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
  return `${agreeing.length} of ${verdicts.length} answers have the shape that kube-apiserver ${RECORDED} gave them`;
}
