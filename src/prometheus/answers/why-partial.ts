import type { ValuesVerdict } from '../../decision/samples/sample-rules.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import type { Answer } from './answer.js';
import { quote, sayValue } from './quote.js';

/** Before 3.0, Prometheus sent infos as warnings. They do not mean that data is missing. */
const HARMLESS_WARNING = 'PromQL info';

/** With a larger clock difference, the server may have evaluated a time without data. */
const MAX_SKEW_SECONDS = 120;

/**
 * Returns why an answer may lack data (`isPartial` or a warning); null: no sign of that. Such an answer has the class
 * `partial`.
 */
export function whyAnswerPartial(json: Readonly<Record<string, unknown>>): string | null {
  const isPartial = json['isPartial'];
  if (isPartial !== undefined && isPartial !== null && isPartial !== false)
    return 'the server reports isPartial';
  const warnings = json['warnings'];
  if (warnings === undefined || warnings === null) return null;
  if (!Array.isArray(warnings)) return 'the server sent warnings in an unknown form';
  const harmful = warnings.map(sayValue).filter((warning) => !warning.startsWith(HARMLESS_WARNING));
  const [first] = harmful;
  if (first === undefined) return null;
  const more = harmful.length > 1 ? ` (and ${harmful.length - 1} more)` : '';
  return `warning from the server: ${quote(first)}${more}`;
}

/**
 * Returns `partial` of a sample, which then cannot lower the count. It combines all reasons: a partial answer, series
 * that are NaN, and a server clock that differs by more than 120 s. Null: none.
 */
export function whySamplePartial(answer: Answer, verdict: ValuesVerdict, now: Instant): string | null {
  const all = [partialOf(answer), verdict.partial, skewOf(answer, now)].filter((reason) => reason !== null);
  return all.length === 0 ? null : all.join('; ');
}

/** Null for an answer of another class. */
export function partialOf(answer: Answer): string | null {
  return answer.class === 'partial' ? answer.why : null;
}

function skewOf(answer: Answer, now: Instant): string | null {
  if (!('evaluatedAt' in answer)) return null;
  const skewSeconds = Math.round(Math.abs(secondsBetween(now, answer.evaluatedAt)));
  return skewSeconds > MAX_SKEW_SECONDS ? `clocks differ by ${skewSeconds} s` : null;
}
