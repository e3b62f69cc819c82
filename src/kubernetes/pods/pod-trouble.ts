import { objectIn, objectsIn, textIn, type JsonObject } from '../api/json.js';
import type { PodTrouble } from '../api/types.js';

/** Every pod has these reasons while it starts. */
const NORMAL: readonly string[] = ['ContainerCreating', 'PodInitializing'];
/** Number of characters. A reason of the kubelet is one word, but a container runtime may set any string. */
const MAX_WHY = 60;
const MAX_POOL = 1000;

/**
 * Returns a function that reads why a pod is not ready, if the scheduler or the kubelet reports a reason. Pods with the
 * same reason share one object.
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
 * Returns the reason in a message of the scheduler, which counts nodes by reason: `0/3 nodes are available: 2
 * Insufficient cpu, 1 node(s) had untolerated taint {...}`. An insufficient resource takes precedence, because an
 * operator can add it.
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

/** Taints and object names. They may contain the words of a rule. */
const NAMES = /\{[^{}]*\}|"[^"]*"/g;

const RULES: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  // Devices of dynamic resource allocation, such as GPUs.
  { pattern: /allocate all claims|resourceclaim/i, why: 'resource claims' },
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
    if (reason !== '' && !NORMAL.includes(reason)) return { kind: 'waiting', why: reason.slice(0, MAX_WHY) };
  }
  return undefined;
}
