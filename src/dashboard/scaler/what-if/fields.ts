import {
  MEMBERS,
  MEMBER_OF_TARGET,
  TARGET_TYPES,
  TYPE_OF_MEMBER,
} from '../../../scaler/resolve/metric-form.js';
import { isPlainObject, valueAt } from '../../../scaler/plain-json.js';
import { BUILT_IN, PRESETS } from '../../../scaler/schema/presets.js';
import type { PresetValues } from '../../../scaler/schema/presets.js';
import { textAt } from './edit.js';
import type { Path } from './edit.js';

/** An input of the form. `placeholder`: the default in effect, if any. `choices`: null: any text. */
export interface Field {
  readonly path: Path;
  readonly label: string;
  readonly placeholder: string;
  readonly choices: readonly string[] | null;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly Field[];
}

/**
 * Returns the groups of inputs for a document: bounds, targets, behavior and the limits of CHPA. The targets are those
 * of `base`, so the input of a target remains while it is empty.
 */
export function listFields(document: unknown, base: unknown): readonly FieldGroup[] {
  const spec = valueAt(document, ['spec']);
  return [
    {
      title: 'Bounds and targets',
      fields: [
        field('minReplicas', String(BUILT_IN.minReplicas)),
        field('maxReplicas', ''),
        field('tolerance', String(BUILT_IN.tolerance)),
        ...targetFields(valueAt(base, ['spec'])),
      ],
    },
    ...(['scaleUp', 'scaleDown'] as const).map((direction) => ({
      title: `behavior.${direction}`,
      fields: ruleFields(spec, direction),
    })),
    { title: 'Limits and windows', fields: limitFields(spec) },
  ];
}

function field(name: string, placeholder: string, choices: readonly string[] | null = null): Field {
  return { path: ['spec', ...name.split('.')], label: name, placeholder, choices };
}

function targetFields(spec: unknown): readonly Field[] {
  const metrics = valueAt(spec, ['metrics']);
  if (!Array.isArray(metrics)) return [];
  return metrics.flatMap((metric: unknown, index) => {
    const member = MEMBERS.find((name) => isPlainObject(metric) && Object.hasOwn(metric, name));
    if (member === undefined) return [];
    const body = valueAt(metric, [member]);
    const name = nameOf(body) ?? TYPE_OF_MEMBER[member];
    return targetPaths(body).map((path) => ({
      path: ['spec', 'metrics', index, member, ...path],
      label: `${name}: ${path.join('.')}`,
      placeholder: '',
      choices: null,
    }));
  });
}

function nameOf(body: unknown): string | null {
  const names = [valueAt(body, ['metric', 'name']), valueAt(body, ['name'])];
  return names.find((name) => typeof name === 'string') ?? null;
}

/** Returns the value fields of a target that are written, in either form, and other numbers of the metric. */
function targetPaths(body: unknown): readonly (readonly string[])[] {
  const members = TARGET_TYPES.map((type) => MEMBER_OF_TARGET[type]);
  const inTarget = members.map((member) => ['target', member]);
  const flat = [['targetAverageUtilization'], ['targetAverageValue']];
  const parts = [
    ['backlog', 'drainSeconds'],
    ['saturation', 'factor'],
  ];
  return [...inTarget, ...flat, ...parts].filter((path) => valueAt(body, path) !== undefined);
}

function ruleFields(spec: unknown, direction: 'scaleUp' | 'scaleDown'): readonly Field[] {
  const base = `behavior.${direction}`;
  const isWritten = valueAt(spec, ['behavior']) !== undefined;
  const policies = valueAt(spec, ['behavior', direction, 'policies']);
  const count = Array.isArray(policies) ? policies.length : 0;
  const shown = (value: string): string => (isWritten ? value : '');
  const path = ['spec', 'behavior', direction];
  return [
    field(`${base}.stabilizationWindowSeconds`, shown(stabilizationOf(spec, direction))),
    field(`${base}.selectPolicy`, shown(BUILT_IN.selectPolicy), ['Max', 'Min', 'Disabled']),
    field(`${base}.tolerance`, shown(textAt(spec, ['tolerance']) || String(BUILT_IN.tolerance))),
    ...Array.from({ length: count + 1 }, (_, index) => policyFields([...path, 'policies', index])).flat(),
  ].map((one) => ({ ...one, label: one.label.replace(`${base}.`, '') }));
}

function stabilizationOf(spec: unknown, direction: 'scaleUp' | 'scaleDown'): string {
  if (direction === 'scaleUp') return String(BUILT_IN.scaleUpStabilizationWindowSeconds);
  const written = valueAt(spec, ['downscaleStabilizationSeconds']);
  return String(typeof written === 'number' ? written : presetOf(spec).downscaleStabilizationSeconds);
}

function policyFields(path: Path): readonly Field[] {
  const name = `policies[${String(path.at(-1))}]`;
  return [
    { path: [...path, 'type'], label: `${name}.type`, placeholder: '', choices: ['Pods', 'Percent'] },
    { path: [...path, 'value'], label: `${name}.value`, placeholder: '', choices: null },
    { path: [...path, 'periodSeconds'], label: `${name}.periodSeconds`, placeholder: '', choices: null },
  ];
}

function limitFields(spec: unknown): readonly Field[] {
  const preset = presetOf(spec);
  const isConfirmed = valueAt(spec, ['downscaleConfirmation']) !== undefined;
  const ifConfirmed = (value: number): string => (isConfirmed ? String(value) : '');
  return [
    field('preset', BUILT_IN.preset, Object.keys(PRESETS)),
    field('downscaleStabilizationSeconds', String(preset.downscaleStabilizationSeconds)),
    field('upscaleForbiddenWindowSeconds', String(preset.upscaleForbiddenWindowSeconds)),
    field('downscaleForbiddenWindowSeconds', String(preset.downscaleForbiddenWindowSeconds)),
    field('forbiddenWindowsSince', preset.forbiddenWindowsSince, ['SameDirection', 'AnyRescale']),
    field('scaleUpLimitFactor', String(preset.scaleUpLimitFactor ?? BUILT_IN.scaleUpLimitFactor)),
    field('scaleUpLimitMinimum', String(preset.scaleUpLimitMinimum ?? BUILT_IN.scaleUpLimitMinimum)),
    field('downscaleConfirmation.seconds', ifConfirmed(BUILT_IN.confirmationSeconds)),
    field('downscaleConfirmation.decisions', ifConfirmed(BUILT_IN.confirmationDecisions)),
    field('maxScaleDownPercentPerWindow', ''),
    field('podStart.seconds', ''),
    field('podWarmupSeconds', String(BUILT_IN.podWarmupSeconds)),
  ];
}

function presetOf(spec: unknown): PresetValues {
  const name = valueAt(spec, ['preset']);
  return name === 'chpa' || name === 'hpa-1.11' ? PRESETS[name] : PRESETS.hpa;
}

/** Returns whether a problem is at the path of a field, or below it. */
export function isAtField(problemPath: string, fieldPath: string): boolean {
  return (
    problemPath === fieldPath ||
    problemPath.startsWith(`${fieldPath}.`) ||
    problemPath.startsWith(`${fieldPath}[`)
  );
}
