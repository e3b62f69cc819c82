import { type Path, formatPath } from './finding.js';
import { isPlainObject } from './plain.js';
import { PRESETS, type PresetValues } from './presets.js';
import type { Scaler } from './spec.js';
import { writeSpec } from './write-spec.js';

/** A field of a scaler, its value, and where that came from. */
export interface FieldOrigin {
  readonly path: Path;
  /** Text, number or boolean; null: absent, and that means something (`behavior`). */
  readonly value: unknown;
  /** `document`, `service defaults`, `preset chpa`, `built in`, or the field it was taken from. */
  readonly origin: string;
}

/** What a spec was put together from. */
export interface SpecLayers {
  /** The document's `spec` as written, before the defaults were merged in. */
  readonly document: unknown;
  /** The service config's `defaults`. */
  readonly defaults: unknown;
}

/** Every field of a scaler's spec in the order of the manual, with its origin. */
export function listOrigins(scaler: Scaler, layers: SpecLayers): readonly FieldOrigin[] {
  const { spec } = scaler;
  const fields: FieldOrigin[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index]));
    else if (isPlainObject(value)) {
      for (const [key, member] of Object.entries(value)) visit(member, [...path, key]);
    } else fields.push({ path: ['spec', ...path], value, origin: originOf(path, layers, spec.preset) });
  };
  for (const [key, value] of Object.entries(writeSpec(spec))) {
    visit(value, [key]);
    if (key === 'metrics' && spec.behavior === null) visit(null, ['behavior']);
  }
  return fields;
}

function originOf(path: Path, layers: SpecLayers, preset: Scaler['spec']['preset']): string {
  for (const [layer, name] of [
    [layers.document, 'document'],
    [layers.defaults, 'service defaults'],
  ] as const) {
    const found = look(layer, path);
    if (found === 'there') return name;
    // A list is taken whole, and null takes a default away: what is left out there is not looked for below.
    if (found === 'settled') return derivation(path, true);
  }
  const [field] = path;
  const values: Readonly<Record<string, unknown>> = { ...PRESETS[preset] } satisfies Readonly<
    Record<keyof PresetValues, unknown>
  >;
  if (
    preset !== 'hpa' &&
    path.length === 1 &&
    typeof field === 'string' &&
    typeof (values[field] ?? null) !== 'object'
  ) {
    return `preset ${preset}`;
  }
  return derivation(path, false);
}

/** What a field that nobody wrote was taken from. `inList`: it is part of a metric or policy that somebody wrote. */
function derivation(path: Path, inList: boolean): string {
  const text = formatPath(path);
  if (inList && /^metrics\[\d+\]\.\w+\.metric\.name$/.test(text)) return 'the query';
  if (inList && /\.selector\./.test(text)) return 'matchLabels';
  if (inList && /^metrics\[\d+\]\.(?:type|\w+\.target\.\w+)$/.test(text)) return 'the short form';
  if (text === 'behavior.scaleDown.stabilizationWindowSeconds') return 'downscaleStabilizationSeconds';
  if (/^behavior\.scale(?:Up|Down)\.tolerance$/.test(text)) return 'spec.tolerance';
  return 'built in';
}

function look(layer: unknown, path: Path): 'there' | 'settled' | 'absent' {
  let current = layer;
  let isInList = false;
  for (const step of path) {
    if (current === null) return 'settled';
    if (Array.isArray(current)) {
      if (current.length === 0) return 'absent';
      isInList = true;
      current = typeof step === 'number' ? (current as unknown[])[step] : undefined;
    } else current = isPlainObject(current) && Object.hasOwn(current, step) ? current[step] : undefined;
    if (current === undefined) return isInList ? 'settled' : 'absent';
  }
  return current === null ? 'settled' : 'there';
}
