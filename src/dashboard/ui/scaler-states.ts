import type { ScalerState } from '../../api/answers.js';
import type { Tone } from './tone.js';
import type { IconName } from './icon-paths.js';

interface StateStyle {
  readonly text: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

/** Ordered by urgency, most urgent first. */
export const STATE_STYLES: Readonly<Record<ScalerState, StateStyle>> = {
  failing: { text: 'Failing', tone: 'bad', icon: 'error' },
  conflict: { text: 'Conflict', tone: 'bad', icon: 'conflict' },
  'at-maximum': { text: 'At maximum', tone: 'warn', icon: 'ceiling' },
  'target-not-reached': { text: 'Target not reached', tone: 'warn', icon: 'target' },
  paused: { text: 'Paused', tone: 'info', icon: 'pause' },
  'dry-run': { text: 'Dry run', tone: 'info', icon: 'eye' },
  waiting: { text: 'Waiting', tone: 'info', icon: 'lock' },
  scaling: { text: 'Scaling', tone: 'good', icon: 'scaling' },
};

/** Ordered by urgency, most urgent first. */
export const STATES: readonly ScalerState[] = Object.keys(STATE_STYLES).filter(isState);

export function isState(text: string): text is ScalerState {
  return Object.hasOwn(STATE_STYLES, text);
}
