import type { ScalerState } from '../../api/answers.js';
import type { IconName } from './icon-paths.js';

type Severity = ScalerState['severity'];

/** The urgency of a state. It determines a color, but a label or an icon always shows it, too. */
export type Tone = 'bad' | 'warn' | 'info' | 'good' | 'quiet';

interface SeverityStyle {
  readonly text: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

/** The style of each severity. The most urgent severity comes first. */
export const SEVERITY_STYLES: Readonly<Record<Severity, SeverityStyle>> = {
  'cannot-follow': { text: 'Cannot follow', tone: 'bad', icon: 'error' },
  held: { text: 'Held', tone: 'warn', icon: 'lock' },
  waiting: { text: 'Waiting', tone: 'info', icon: 'clock' },
  idle: { text: 'Idle', tone: 'quiet', icon: 'moon' },
  ok: { text: 'OK', tone: 'quiet', icon: 'ok' },
};

export const SEVERITIES: readonly Severity[] = Object.keys(SEVERITY_STYLES).filter(isSeverity);

export function isSeverity(text: string): text is Severity {
  return Object.hasOwn(SEVERITY_STYLES, text);
}
