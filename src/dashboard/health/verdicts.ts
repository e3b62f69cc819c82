import type { ServiceStatus } from '../../api/answers.js';
import { formatCount, isOverdue, plural } from '../ui/formats.js';
import type { IconName } from '../ui/icon-paths.js';
import type { Tone } from '../ui/severities.js';

/** Whether a part of the service works, for one line of the page. */
export interface Verdict {
  readonly subject: string;
  readonly tone: Tone;
  readonly text: string;
}

export const TONE_ICONS: Readonly<Record<Tone, IconName>> = {
  bad: 'error',
  warn: 'warning',
  info: 'clock',
  good: 'ok',
  quiet: 'unknown',
};

export function verdictsOf(status: ServiceStatus, nowMs: number): readonly Verdict[] {
  return [
    { subject: 'Data sources', ...ofDataSources(status) },
    { subject: 'API server', ...ofKubernetes(status) },
    { subject: 'Rounds', ...ofRounds(status, nowMs) },
    { subject: 'Replicas', ...ofReplicas(status) },
    { subject: 'Documents', ...ofDocuments(status) },
    { subject: 'Conflicts', ...ofConflicts(status) },
  ];
}

type Finding = Omit<Verdict, 'subject'>;

function ofDataSources({ dataSources }: ServiceStatus): Finding {
  if (dataSources.length === 0) return { tone: 'quiet', text: 'None' };
  const down = dataSources.filter(({ isReachable }) => isReachable === false).length;
  if (down > 0)
    return { tone: 'bad', text: `${formatCount(down)} of ${formatCount(dataSources.length)} failing` };
  const holding = dataSources.filter(({ holdUntil }) => holdUntil !== null).length;
  if (holding > 0) return { tone: 'info', text: 'No scale-downs yet' };
  if (dataSources.every(({ isReachable }) => isReachable === null))
    return { tone: 'quiet', text: 'Not queried yet' };
  return { tone: 'good', text: 'Reachable' };
}

function ofKubernetes({ kubernetes: { isReachable } }: ServiceStatus): Finding {
  if (isReachable === null) return { tone: 'quiet', text: 'Unknown' };
  return isReachable ? { tone: 'good', text: 'Reachable' } : { tone: 'bad', text: 'Failing' };
}

/** A warning is shown if a round is late by more than this share of its period. */
const LATE_SHARE = 0.5;

function ofRounds({ rounds: { last, periodSeconds } }: ServiceStatus, nowMs: number): Finding {
  if (last === null) return { tone: 'quiet', text: 'None yet' };
  if (isOverdue(last.at, periodSeconds, nowMs)) return { tone: 'bad', text: 'Overdue' };
  if (last.latenessSeconds > periodSeconds * LATE_SHARE) return { tone: 'warn', text: 'Late' };
  if (last.seconds > periodSeconds) return { tone: 'warn', text: 'Longer than the sync period' };
  return { tone: 'good', text: 'On time' };
}

function ofReplicas({ leader, replicas }: ServiceStatus): Finding {
  const gone = replicas.filter(({ isReachable }) => !isReachable).length;
  if (gone > 0) return { tone: 'bad', text: `${plural(gone, 'replica')} unreachable` };
  if (leader === null && replicas.length < 2) return { tone: 'warn', text: 'No leader' };
  return {
    tone: 'good',
    text: replicas.length > 1 ? plural(replicas.length, 'replica') : 'Has a leader',
  };
}

function ofDocuments({ problems }: ServiceStatus): Finding {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  // An error of a document is only a warning here: an earlier version of the document stays in effect, or one of many
  // scalers is missing.
  if (errors > 0) return { tone: 'warn', text: plural(errors, 'error') };
  return problems.length > 0
    ? { tone: 'warn', text: plural(problems.length, 'warning') }
    : { tone: 'good', text: 'Valid' };
}

function ofConflicts({ conflicts }: ServiceStatus): Finding {
  return conflicts.length > 0
    ? { tone: 'bad', text: plural(conflicts.length, 'scaler') }
    : { tone: 'good', text: 'None' };
}
