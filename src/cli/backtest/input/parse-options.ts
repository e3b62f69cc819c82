import { parseSweep, type Sweep } from '../../../backtest/compare/sweep.js';
import { parseThreshold, type Threshold } from '../../../backtest/figures/threshold.js';
import { DURATION_FORM, parseDuration } from '../../../units/duration.js';
import { parseInstant } from '../../../units/time.js';
import type { Instant } from '../../../units/time.js';
import { CommandError } from '../../process/io.js';

export function parseSeconds(option: string, text: string): number {
  const seconds = parseDuration(text);
  if (seconds === null) throw invalid(option, text, DURATION_FORM);
  return seconds;
}

export function parsePositive(option: string, text: string): number {
  const value = /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : 0;
  if (value <= 0) throw invalid(option, text, 'a number above 0');
  return value;
}

export function parseCount(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw invalid(option, text, 'a whole number, at least 0');
  return Number(text);
}

export function parseTime(option: string, text: string): Instant {
  const time = parseInstant(text);
  if (time === null) throw invalid(option, text, 'a time such as 2026-01-01T00:00:00Z');
  return time;
}

export function parseSweeps(texts: readonly string[]): readonly Sweep[] {
  return texts.map((text) => {
    const sweep = parseSweep(text);
    if (typeof sweep === 'string') throw new CommandError(`--sweep ${shorten(text)}: ${sweep}`, 2);
    return sweep;
  });
}

export function parseThresholds(
  option: '--fail-if' | '--recommend',
  texts: readonly string[],
): readonly Threshold[] {
  return texts.map((text) => {
    const threshold = parseThreshold(text, { allowsDocument: option === '--recommend' });
    if (typeof threshold === 'string') throw new CommandError(`${option} ${shorten(text)}: ${threshold}`, 2);
    return threshold;
  });
}

const LONGEST_TEXT = 60;

function shorten(text: string): string {
  return JSON.stringify(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}...` : text);
}

function invalid(option: string, text: string, rule: string): CommandError {
  return new CommandError(`${option} is ${shorten(text)}, must be ${rule}`, 2);
}
