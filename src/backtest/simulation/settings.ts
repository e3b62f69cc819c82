import type { Scaler } from '../../scaler/spec.js';
import { DURATION_FORM, parseDuration } from '../../units/time.js';
import { countOf } from '../../units/format.js';
import { computeCall, computeOperator } from '../../promql/constants.js';
import { type Expression, readExpressions } from '../../promql/expressions.js';

/** The seconds from the creation of a pod until it is ready. */
export interface PodStart {
  readonly medianSeconds: number;
  /** The time within which 95 % of the pods are ready. If it equals the median, all pods take the same time. */
  readonly p95Seconds: number;
  /** Null: there is always a node with room for another pod. */
  readonly node: NodeStart | null;
}

/** How long a pod waits for a new node if no node has room. */
export interface NodeStart {
  readonly seconds: number;
  /** Number of pods that fit on a node. */
  readonly pods: number;
}

/** What happens to load that the ready pods cannot serve at once. */
export interface QueueSettings {
  /** The largest depth. Load that arrives while the queue is full is lost. Infinity: no limit. */
  readonly mostDepth: number;
  /** Load that has waited longer is lost. Infinity: all load waits until it is served. */
  readonly timeoutSeconds: number;
}

export interface Assumptions {
  /** The load per second that one pod can serve. */
  readonly capacity: number;
  readonly podStart: PodStart;
  readonly scrapeIntervalSeconds: number;
  readonly resourceWindowSeconds: number;
  /** The CPU usage of a pod at its capacity, in percent of its request. */
  readonly usageAtCapacityPercent: number;
  /** Null: as many replicas as the load needs at the start, within the bounds of the document. */
  readonly initialReplicas: number | null;
  readonly pricePerPodHour: number | null;
  /** Null: there is no queue, and load above the capacity is lost. */
  readonly queue: QueueSettings | null;
  /** The value of `maxReplicasFrom` in each round. Null: the recorded values apply. A trace has no recorded values. */
  readonly maxReplicasFrom: number | null;
  /** Maps the identity of a metric to what its query measures, for `parseMeasure`. Other metrics measure the load. */
  readonly measures: ReadonlyMap<string, string>;
}

/** The assumptions that the user has given. `capacity` and `podStart` are null if they are not given. */
export interface GivenAssumptions extends Omit<Assumptions, 'capacity' | 'podStart'> {
  readonly capacity: number | null;
  readonly podStart: PodStart | null;
}

/** Returns a start time that is the same for all pods. */
export function podStartOf(seconds: number): PodStart {
  return { medianSeconds: seconds, p95Seconds: seconds, node: null };
}

/** Returns the start time that the first document states in `podStart.seconds`; null: it is unset. */
export function statedPodStart([first]: readonly { readonly scaler: Scaler }[]): PodStart | null {
  const seconds = first?.scaler.spec.podStart?.seconds ?? null;
  return seconds === null ? null : podStartOf(seconds);
}

const MOST_SECONDS = 86_400;
const MOST_PODS_OF_A_NODE = 10_000;
/** Limits the depth at about a day of a load of 10 GB/s. */
const MOST_DEPTH = 1e15;

const POD_START_FORM =
  'a duration such as 120s, or median=60s,p95=180s; append node=90s,every=4 if every 4 pods need a new node';
const QUEUE_FORM = 'unbounded, max=1000, timeout=30s or max=1000,timeout=30s';

/**
 * Parses `120s` or `median=60s,p95=180s,node=90s,every=4`. If the text is invalid, returns the reason as the predicate
 * of a sentence, such as `has no median`.
 */
export function parsePodStart(text: string): PodStart | string {
  if (!text.includes('=')) {
    const seconds = parseDuration(text.trim());
    if (seconds === null) return `is ${quote(text)}, must be ${POD_START_FORM}`;
    return seconds > MOST_SECONDS ? `is ${quote(text)}, must be at most 1d` : podStartOf(seconds);
  }
  const parts = readParts(text, ['median', 'p95', 'node', 'every']);
  if (parts === null) return `is ${quote(text)}, must be ${POD_START_FORM}`;
  const problems: string[] = [];
  const seconds = (name: string, given: string): number => readSeconds(name, given, { least: 0, problems });
  const { median, p95 = median, node, every } = Object.fromEntries(parts);
  if (median === undefined || p95 === undefined) return 'has no median';
  const medianSeconds = seconds('median', median);
  const p95Seconds = seconds('p95', p95);
  if (p95Seconds < medianSeconds)
    problems.push(`has a p95 of ${p95Seconds} s, must be at least the median of ${medianSeconds} s`);
  if (medianSeconds === 0 && p95Seconds > 0) problems.push('has a median of 0 s, so p95 must be 0 s, too');
  if ((node === undefined) !== (every === undefined))
    problems.push(
      'must have node=DURATION (start time of a node) and every=COUNT (pods that fit on a node), or neither',
    );
  const nodeSeconds = node === undefined ? 0 : seconds('node', node);
  const pods = every === undefined ? 1 : /^\d{1,9}$/.test(every) ? Number(every) : 0;
  if (pods < 1 || pods > MOST_PODS_OF_A_NODE)
    problems.push(`has every=${quote(every ?? '')}, must be from 1 to ${MOST_PODS_OF_A_NODE} pods`);
  const [problem] = problems;
  if (problem !== undefined) return problem;
  return { medianSeconds, p95Seconds, node: node === undefined ? null : { seconds: nodeSeconds, pods } };
}

/**
 * Parses `unbounded`, `max=1000`, `timeout=30s` or `max=1000,timeout=30s`. If the text is invalid, returns the reason
 * as the predicate of a sentence.
 */
export function parseQueue(text: string): QueueSettings | string {
  if (text.trim() === 'unbounded') return { mostDepth: Infinity, timeoutSeconds: Infinity };
  const parts = readParts(text, ['max', 'timeout']);
  if (parts === null) return `is ${quote(text)}, must be ${QUEUE_FORM}`;
  const problems: string[] = [];
  const { max, timeout } = Object.fromEntries(parts);
  const mostDepth = max === undefined ? Infinity : (positiveNumber(max) ?? NaN);
  if (Number.isNaN(mostDepth))
    problems.push(`has max=${quote(max ?? '')}, must be a number above 0, below ${MOST_DEPTH}`);
  const timeoutSeconds =
    timeout === undefined ? Infinity : readSeconds('timeout', timeout, { least: 1, problems });
  return problems[0] ?? { mostDepth, timeoutSeconds };
}

/** Returns a number above 0 and below 1e15; null: the text is not such a number. */
export function positiveNumber(text: string): number | null {
  const value = /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
}

/** Returns a part of a sentence, such as `60 s (median) or 180 s (p95)`. */
export function describePodStart({ medianSeconds, p95Seconds, node }: PodStart): string {
  const [median, p95] = [medianSeconds, p95Seconds].map((seconds) => Number(seconds.toPrecision(4)));
  const own = medianSeconds === p95Seconds ? `${median} s` : `${median} s (median) or ${p95} s (p95)`;
  if (node === null) return own;
  return `${own} (plus ${node.seconds} s if the pod needs a new node, which has room for ${countOf(node.pods, 'pod')})`;
}

/** Returns a part of a sentence, such as `up to a depth of 1000, and is lost after 30 s`. */
export function describeQueue({ mostDepth, timeoutSeconds }: QueueSettings): string {
  const most = mostDepth === Infinity ? 'in a queue without limit' : `in a queue of up to ${mostDepth}`;
  return timeoutSeconds === Infinity ? most : `${most}, and is lost after ${timeoutSeconds} s`;
}

function readSeconds(
  name: string,
  text: string,
  { least, problems }: { readonly least: number; readonly problems: string[] },
): number {
  const seconds = parseDuration(text);
  if (seconds === null) problems.push(`has ${name}=${quote(text)}, must be ${DURATION_FORM}`);
  else if (seconds < least || seconds > MOST_SECONDS)
    problems.push(`has ${name}=${quote(text)}, must be ${least > 0 ? `from ${least}s to 1d` : 'at most 1d'}`);
  return seconds ?? 0;
}

/** Parses a list of `NAME=VALUE`; null: a part has another form, an unknown name or a repeated name. */
function readParts(text: string, names: readonly string[]): ReadonlyMap<string, string> | null {
  const parts = new Map<string, string>();
  for (const part of text.split(',', names.length + 1)) {
    const [name = '', value = '', ...more] = part.split('=', 3).map((side) => side.trim());
    if (value === '' || more.length > 0 || !names.includes(name) || parts.has(name)) return null;
    parts.set(name, value);
  }
  return parts;
}

/** Returns a string as JSON, for a message about invalid input. A string of more than 60 characters is truncated. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

/** What an expression may use: the values that an exporter could measure of a simulated queue. */
const MEASURES = ['load', 'served', 'lost', 'depth', 'wait', 'ready'] as const;
export type Measure = (typeof MEASURES)[number];

/** Returns the value of an expression; null: a measure is unknown, or the result is not a number. */
export type ReadMeasure = (read: (measure: Measure) => number | null) => number | null;

const OPERATORS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^']);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'abs',
  'ceil',
  'clamp',
  'clamp_max',
  'clamp_min',
  'floor',
  'sqrt',
]);
const MOST_CHARACTERS = 500;

/**
 * Parses arithmetic in PromQL, such as `load + depth / 60`. If the text is invalid, returns the reason as the predicate
 * of a sentence.
 */
export function parseMeasure(text: string): ReadMeasure | string {
  if (text.length > MOST_CHARACTERS)
    return `has ${text.length} characters, must have at most ${MOST_CHARACTERS}`;
  const expressions = readExpressions(text);
  const wrong = expressions?.find((one) => !isArithmetic(one, text));
  if (expressions === null || wrong !== undefined) {
    const part = wrong === undefined ? text : text.slice(wrong.from, wrong.to);
    return `has ${quote(part)}, must be arithmetic of ${MEASURES.join(', ')} and numbers, such as load + depth / 60`;
  }
  return (read) => {
    const values: (number | null)[] = [];
    for (const one of expressions) values.push(valueOf(one, values, read));
    const value = values.at(-1) ?? null;
    return value !== null && Number.isFinite(value) ? value : null;
  };
}

function isArithmetic(one: Expression, text: string): boolean {
  switch (one.form) {
    case 'number':
      return Number.isFinite(Number(one.text));
    case 'selector':
      return isMeasure(one.metric) && text.slice(one.from, one.to).trim() === one.metric;
    case 'wrapped':
      return one.node === 'ParenExpr';
    case 'unary':
      return true;
    case 'binary':
      return OPERATORS.has(one.operator) && one.matching === null;
    case 'call':
      return FUNCTIONS.has(one.name);
    default:
      return false;
  }
}

function isMeasure(name: string | null): name is Measure {
  return MEASURES.some((measure) => measure === name);
}

function valueOf(
  one: Expression,
  values: readonly (number | null)[],
  read: (measure: Measure) => number | null,
): number | null {
  const operands = one.operands.map((index) => values[index] ?? NaN);
  const [first = NaN, second = NaN] = operands;
  switch (one.form) {
    case 'number':
      return Number(one.text);
    case 'selector':
      return isMeasure(one.metric) ? read(one.metric) : null;
    case 'wrapped':
      return first;
    case 'unary':
      return one.operator === '-' ? -first : first;
    case 'binary':
      return numberOf(computeOperator(one.operator, { left: first, right: second, isBool: one.isBool }));
    case 'call':
      return numberOf(computeCall(one.name, operands));
    default:
      return null;
  }
}

function numberOf(value: number | 'some' | null): number | null {
  return value === 'some' ? null : value;
}
