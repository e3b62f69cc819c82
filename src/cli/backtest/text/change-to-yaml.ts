import { stringify } from 'yaml';
import type { RecommendedChange } from '../../../backtest/report/report.js';

/** Returns the changed fields below `spec`. A list shows the changed items only, with their index. */
export function changeToYaml(change: NonNullable<RecommendedChange['change']>): string {
  const spec: Record<string, unknown> = {};
  const comments: string[] = [];
  for (const { field, value } of change) {
    const item = /^metrics\[(\d+)\]\.(.+)$/.exec(field);
    if (item === null) put(spec, field.split('.'), value);
    else {
      const [, index = '', rest = ''] = item;
      const metric: Record<string, unknown> = {};
      put(metric, rest.split('.'), value);
      comments.push(`# metrics: only the changed field of metrics[${index}]`);
      spec['metrics'] = [metric];
    }
  }
  return `${comments.map((line) => `${line}\n`).join('')}${stringify({ spec })}`;
}

function put(object: Record<string, unknown>, [step, ...rest]: readonly string[], value: unknown): void {
  if (step === undefined) return;
  if (rest.length === 0) {
    object[step] = value;
    return;
  }
  const inner = (object[step] ?? {}) as Record<string, unknown>;
  object[step] = inner;
  put(inner, rest, value);
}
