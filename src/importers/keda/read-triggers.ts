import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';
import { formatValue } from '../../scaler/problems/finding.js';
import { type DraftItem, defined } from '../draft/draft.js';
import type { Fields } from '../manifest/fields.js';
import { readCron, readResource, readUnsupported } from './other-triggers.js';
import { readPrometheus } from './prometheus-trigger.js';
import type { SourceNames } from '../manifest/context.js';
import {
  type ActivationStep,
  type ReadTrigger,
  type Trigger,
  metadataText,
  readActivation,
} from './trigger.js';

interface Options extends ActivationStep {
  readonly sources: SourceNames;
  readonly maxReplicas: number;
  /** `advanced.scalingModifiers` if it contains a formula. */
  readonly formula: Fields | undefined;
}

interface Lists {
  readonly metrics: DraftItem[];
  readonly schedules: DraftItem[];
}

export function readTriggers(spec: Fields, options: Options): Lists {
  const lists: Lists = { metrics: [], schedules: [] };
  const triggers = spec.list('triggers') ?? [];
  if (triggers.length === 0)
    spec.log.lose([...spec.path, 'triggers'], 'is empty, so the document scales on CPU');
  for (const [index, fields] of triggers.entries()) {
    const type = fields.text('type') ?? '';
    const list = type === 'cron' ? 'schedules' : 'metrics';
    const trigger = readTrigger(fields.at(['spec', list, lists[list].length]), { index, type });
    if (trigger === null) continue;
    const { item } = convert(trigger, options);
    lists[list].push(options.formula === undefined ? item : { ...item, isOff: true });
  }
  const { formula } = options;
  if (formula !== undefined)
    lists.metrics.push(formulaItem(formula.at(['spec', 'metrics', lists.metrics.length]), options));
  return lists;
}

function readTrigger(
  fields: Fields,
  { index, type }: { readonly index: number; readonly type: string },
): Trigger | null {
  fields.skip('type', 'useCachedMetrics');
  const metadata = fields.object('metadata');
  const reference = fields.object('authenticationRef');
  const trigger = {
    index,
    path: fields.path,
    type,
    name: fields.text('name') ?? null,
    metricType: fields.text('metricType') ?? null,
    authentication: reference === undefined ? null : (reference.text('name') ?? 'set'),
  };
  reference?.skip('kind');
  reference?.rest();
  fields.rest();
  if (metadata !== undefined) return { ...trigger, metadata };
  fields.log.lose([...fields.path, 'metadata'], 'is missing; the trigger is not carried over');
  return null;
}

function convert(trigger: Trigger, options: Options): ReadTrigger {
  switch (trigger.type) {
    case 'prometheus':
      return readPrometheus(trigger, options.sources, options);
    case 'cpu':
    case 'memory':
      return readResource(trigger);
    case 'cron':
      return readCron(trigger, options.maxReplicas);
    default:
      return readUnsupported(trigger, options);
  }
}

/** Returns a single metric for a formula that combines all triggers. */
function formulaItem(modifiers: Fields, step: ActivationStep): DraftItem {
  const formula = modifiers.text('formula') ?? '';
  const target = metadataText(modifiers, 'target');
  const activation = readActivation(modifiers, ['activationTarget'], step);
  const metricType = modifiers.text('metricType') ?? 'AverageValue';
  modifiers.rest();
  const message = `FILL IN one query that computes ${formatValue(formula)} from the queries of the triggers`;
  modifiers.log.lose([...modifiers.path, 'formula'], message);
  const external = defined({
    metric: { name: 'formula' },
    query: PLACEHOLDER,
    target: { [metricType === 'Value' ? 'value' : 'averageValue']: target ?? PLACEHOLDER },
    activation,
  });
  return { value: { external }, from: modifiers.path, isOff: true };
}
