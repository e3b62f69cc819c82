import { LIMIT_NAMES } from '../../ui/limit-names.js';
import type { Outcome, PastDecision } from './answers.js';

/** `tone` is never the only sign. The title has the same meaning. */
export interface Verdict {
  readonly tone: 'calm' | 'moving' | 'held' | 'failing';
  /** A few words: the result for the count, and what determines it. */
  readonly title: string;
  /** The sentence of `promscaler explain`. */
  readonly sentence: string;
  /** Why the decision was not carried out; null: it was, or nothing had to change. */
  readonly aside: string | null;
}

interface Judged {
  readonly decision: PastDecision | null;
  readonly outcome: Outcome;
  /** Replaces the reason of the decision, for example during a pause; null: no replacement. */
  readonly reason: string | null;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly message: string;
  }[];
}

export function judge({ decision, outcome, reason, conditions }: Judged): Verdict {
  if (decision === null) {
    const failed = conditions.find(({ type, status }) => type === 'AbleToScale' && status === 'False');
    const why = (failed ?? conditions.find(({ status }) => status === 'False'))?.message;
    return {
      tone: 'failing',
      title: 'No decision: the target could not be read',
      sentence: why ?? 'the last cycle made no decision',
      aside: null,
    };
  }
  const sentence = reason ?? decision.reason;
  const prevented = PREVENTED[outcome.kind];
  if (prevented !== null) {
    const { from, to } = outcome;
    const stays = `Stays at ${from ?? decision.currentReplicas}`;
    const wanted = to ?? decision.desiredReplicas;
    const aside = outcome.message === '' ? prevented.words : `${prevented.words}: ${outcome.message}`;
    return {
      tone: prevented.tone,
      title: `${stays}, not ${wanted}: ${prevented.words}`,
      sentence,
      aside,
    };
  }
  return { ...judgeCarriedOut(decision, outcome), sentence, aside: outcome.message || null };
}

interface Prevented {
  readonly tone: Verdict['tone'];
  readonly words: string;
}

const PREVENTED: Readonly<Record<Outcome['kind'], Prevented | null>> = {
  none: null,
  patched: null,
  replaced: null,
  'dry-run': { tone: 'held', words: 'dry run' },
  paused: { tone: 'held', words: 'paused' },
  held: { tone: 'held', words: 'held' },
  conflict: { tone: 'failing', words: 'the target changed meanwhile' },
  failed: { tone: 'failing', words: 'the change failed' },
};

function judgeCarriedOut(decision: PastDecision, outcome: Outcome): Pick<Verdict, 'tone' | 'title'> {
  const from = outcome.from ?? decision.currentReplicas;
  const to = outcome.to ?? decision.desiredReplicas;
  const { recommendedReplicas: recommended, limits } = decision;
  const limit = limits.findLast((step) => step.to === decision.desiredReplicas) ?? limits.at(-1);
  const because = limit === undefined ? '' : `: ${LIMIT_NAMES[limit.limit].toLowerCase()}`;
  const isLimited = recommended !== null && recommended !== to && limit !== undefined;
  const instead = isLimited ? `, not ${recommended}${because}` : '';
  if (from !== to)
    return {
      tone: 'moving',
      title: `${to > from ? 'Scaled up' : 'Scaled down'} from ${from} to ${to}${instead}`,
    };
  if (limit?.limit === 'untrusted_metric' || (recommended === null && decision.metrics.length > 0))
    return { tone: 'failing', title: `Stays at ${to}: ${whyNoValue(decision)}` };
  if (isLimited) return { tone: 'held', title: `Stays at ${to}${instead}` };
  if (recommended === null) return { tone: 'calm', title: `Stays at ${to}: no metric was used` };
  const asked = `Stays at ${to}: the metrics recommend no change`;
  const isBlind = decision.metrics.some(({ error }) => error !== null);
  return isBlind
    ? { tone: 'held', title: `${asked}, but ${whyNoValue(decision)}` }
    : { tone: 'calm', title: asked };
}

function whyNoValue({ metrics }: PastDecision): string {
  const failing = metrics.filter(({ error }) => error !== null);
  const [only] = failing;
  if (only === undefined) return 'a metric has only a partial value';
  if (failing.length === metrics.length && metrics.length > 1) return 'no metric has a value';
  return failing.length === 1 ? `${only.name} has no value` : `${failing.length} metrics have no value`;
}
