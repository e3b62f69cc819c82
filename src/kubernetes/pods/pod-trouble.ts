import { objectIn, objectsIn, textIn, type JsonObject } from '../json.js';
import type { PodTrouble } from '../types.js';

/** What every pod goes through. */
const USUAL: readonly string[] = ['ContainerCreating', 'PodInitializing'];
/** A reason is one word of the kubelet; another runtime's may be anything. */
const MAX_WHY = 60;
const MAX_POOL = 1000;

/**
 * Makes the function that tells why a pod does not get ready, where the scheduler or the kubelet says so; undefined
 * where they do not. Pods in the same trouble share one value.
 */
export function createTroubleReader(): (status: JsonObject | null) => PodTrouble | undefined {
  const pool = new Map<string, PodTrouble>();
  return (status) => {
    const found = unschedulable(status) ?? waiting(status);
    if (found === undefined) return undefined;
    const key = `${found.kind} ${found.why}`;
    const known = pool.get(key);
    if (known !== undefined) return known;
    if (pool.size >= MAX_POOL) pool.clear();
    pool.set(key, found);
    return found;
  };
}

function unschedulable(status: JsonObject | null): PodTrouble | undefined {
  const scheduled = objectsIn(status, 'conditions').find(
    (condition) => textIn(condition, 'type') === 'PodScheduled',
  );
  if (scheduled === undefined || textIn(scheduled, 'status') !== 'False') return undefined;
  if (textIn(scheduled, 'reason') !== 'Unschedulable') return undefined;
  return { kind: 'unschedulable', why: whyUnschedulable(textIn(scheduled, 'message') ?? '') };
}

/**
 * The scheduler counts nodes by what each lacks: `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated
 * taint {...}`. A resource that is short is what a person can add; without one it is the rule that keeps nodes out.
 */
function whyUnschedulable(message: string): string {
  const words = message.replaceAll(NAMES, '');
  const short = Array.from(words.matchAll(/Insufficient ([\w./-]+)/g), ([, resource = '']) =>
    resource.replace(/\.$/, ''),
  );
  if (short.length > 0) return [...new Set(short)].sort().join(', ').slice(0, MAX_WHY);
  const rule = RULES.find(({ pattern }) => pattern.test(words));
  return rule?.why ?? 'no fitting node';
}

/** Taints and names of objects may contain any of the words of a rule. */
const NAMES = /\{[^{}]*\}|"[^"]*"/g;

const RULES: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /volume/i, why: 'a volume' },
  { pattern: /too many pods/i, why: 'the number of pods on a node' },
  { pattern: /topology spread/i, why: 'topology spread' },
  { pattern: /affinity|selector/i, why: 'affinity or node selector' },
  { pattern: /taint/i, why: 'taints' },
];

function waiting(status: JsonObject | null): PodTrouble | undefined {
  const containers = [
    ...objectsIn(status, 'initContainerStatuses'),
    ...objectsIn(status, 'containerStatuses'),
  ];
  for (const container of containers) {
    const reason = textIn(objectIn(objectIn(container, 'state'), 'waiting'), 'reason') ?? '';
    if (reason !== '' && !USUAL.includes(reason)) return { kind: 'waiting', why: reason.slice(0, MAX_WHY) };
  }
  return undefined;
}
