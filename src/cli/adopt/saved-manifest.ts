import { asObject, type JsonObject, objectIn, textsIn } from '../../kubernetes/api/json.js';
import { SYSTEM_METADATA } from '../../scaler/read/system-fields.js';
import type { Source } from './adopt-options.js';

/** Annotations of a Scaler object, which make the hand-over independent of the process. */
export const ADOPT_ANNOTATIONS = {
  /** Such as `HorizontalPodAutoscaler/web`. */
  from: 'promscaler.dev/adopted-from',
  /** The manifest of the autoscaler as JSON, for the way back. */
  manifest: 'promscaler.dev/adopted-manifest',
} as const;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function originOf({ kind, name }: Source): string {
  return `${kind.kind}/${name}`;
}

/** Returns the manifest from which the object can be created again, without what the server sets. */
export function manifestOf(object: JsonObject, { kind }: Source): JsonObject {
  const kept = Object.entries(objectIn(object, 'metadata') ?? {}).filter(
    ([field]) => !SYSTEM_METADATA.includes(field) && field !== 'annotations',
  );
  const annotations = Object.entries(textsIn(objectIn(object, 'metadata'), 'annotations')).filter(
    ([name]) => name !== LAST_APPLIED,
  );
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: {
      ...Object.fromEntries(kept),
      ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    },
    spec: object['spec'],
  };
}

/** Returns the saved manifest of a Scaler object; null: there is none, or it is no JSON object. */
export function savedManifest(scaler: JsonObject): JsonObject | null {
  const text = annotationsOf(scaler)[ADOPT_ANNOTATIONS.manifest];
  if (text === undefined) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const manifest = asObject(value);
  return objectIn(manifest, 'spec') === null ? null : manifest;
}

export function annotationsOf(object: JsonObject): Readonly<Record<string, string>> {
  return textsIn(objectIn(object, 'metadata'), 'annotations');
}

/** Compares regardless of the order of fields. */
export function isSameSpec(a: JsonObject, b: JsonObject): boolean {
  return canonical(a['spec']) === canonical(b['spec']);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
