import type { Answer } from '../answers/answer.js';

/** The answers to one query for several workloads, or to the queries into which it was split. */
export interface WorkloadAnswers {
  readonly of: (workload: string) => Answer;
  /** Workloads that were rejected on their own. */
  readonly causes: readonly string[];
  /** The smallest number of workloads that was rejected although each of them was accepted; null: none. */
  readonly tooMany: number | null;
}

const NO_CAUSES: readonly string[] = [];

/**
 * Asks one query for several workloads. If it is rejected because of its data, such as too many series, asks for each
 * half of them, until only workloads that are rejected on their own have no answer. At most twice as many queries as
 * workloads.
 */
export async function askInHalves(
  workloads: readonly string[],
  ask: (workloads: readonly string[]) => Promise<Answer>,
): Promise<WorkloadAnswers> {
  const answer = await ask(workloads);
  const whole = { of: () => answer, causes: NO_CAUSES, tooMany: null };
  if (workloads.length === 1) return dependsOnData(answer) ? { ...whole, causes: workloads } : whole;
  // A query that is not valid for one workload either is not valid at all.
  const isTooLong = isBadQuery(answer) && !isBadQuery(await ask(workloads.slice(0, 1)));
  if (!isTooLong && !dependsOnData(answer)) return whole;
  const middle = Math.ceil(workloads.length / 2);
  const some = workloads.slice(0, middle);
  const [left, right] = await Promise.all([
    askInHalves(some, ask),
    askInHalves(workloads.slice(middle), ask),
  ]);
  const causes = [...left.causes, ...right.causes];
  const inLeft = new Set(some);
  return {
    of: (workload) => (inLeft.has(workload) ? left : right).of(workload),
    causes,
    tooMany:
      causes.length > 0
        ? null
        : Math.min(left.tooMany ?? workloads.length, right.tooMany ?? workloads.length),
  };
}

/** Whether the data of one workload may be the cause, such as too many series or two series with the same labels. */
function dependsOnData(answer: Answer): boolean {
  if (answer.class === 'invalid') return true;
  return answer.class === 'failed' && (answer.reason === 'execution' || answer.reason === 'too_large');
}

function isBadQuery(answer: Answer): boolean {
  return answer.class === 'failed' && answer.reason === 'bad_query';
}
