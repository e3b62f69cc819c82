import type { ScalerView } from '../../api/answers.js';
import { patchCommand } from '../../decision/snippet.js';
import { evidenceLines } from '../../scaler/field-changes.js';
import { RECOMMEND_CONDITION } from '../../telemetry/recommendation.js';
import { cleanText } from '../../units/clean-text.js';
import type { ScalerName } from '../reach/service-pages.js';

type Recommendation = NonNullable<ScalerView['recommendation']>;

interface RecommendationItem extends Recommendation {
  readonly namespace: string;
  readonly name: string;
  /** The command that applies the change; null: there is no change, or the document is a file. */
  readonly applyWith: string | null;
  readonly reproduceWith: string;
}

/** Returns the recommendations of the scalers that were back-tested. */
export function recommendationItems(
  rows: readonly ScalerView[],
  command: string,
): readonly RecommendationItem[] {
  return rows.flatMap(({ namespace, name, recommendation }) =>
    recommendation === undefined
      ? []
      : [
          {
            namespace,
            name,
            ...recommendation,
            applyWith: applyCommand({ namespace, name }, recommendation),
            reproduceWith: reproduceCommand({ namespace, name }, recommendation, command),
          },
        ],
  );
}

/** Returns the recommendations of these scalers as text: the largest saving first, scalers without a change last. */
export function recommendationLines(rows: readonly ScalerView[], command: string): readonly string[] {
  const items = recommendationItems(rows, command);
  if (items.length === 0)
    return [
      'no document has been back-tested yet: back-tests run nightly if recommendations.enabled is true in the service config',
    ];
  const sorted = items.toSorted(
    (a, b) => (b.saving?.percent ?? -Infinity) - (a.saving?.percent ?? -Infinity),
  );
  const untested = rows.length - items.length;
  return [
    ...sorted.flatMap(itemLines),
    ...(untested === 0 ? [] : [`${untested} of ${rows.length} scalers have not been back-tested yet`]),
  ].map(cleanText);
}

function itemLines(item: RecommendationItem): readonly string[] {
  const { namespace, name, changes, reason, applyWith, reproduceWith } = item;
  const key = `${namespace}/${name}`;
  if (changes.length === 0) return [`${key}: no change: ${reason}`];
  return [
    `${key}: ${reason}`,
    ...evidenceLines(item).map((line) => `  ${line}`),
    `  apply: ${applyWith ?? `set these fields in the file of ${key}`}`,
    `  reproduce: ${reproduceWith}`,
  ];
}

function applyCommand(named: ScalerName, { patch, isObject }: Recommendation): string | null {
  return patch === null || !isObject ? null : patchCommand(named, patch);
}

function reproduceCommand(
  { namespace, name }: ScalerName,
  { from, to, stepSeconds, isObject }: Recommendation,
  command: string,
): string {
  const options = `--config promscaler.yaml --from ${from} --to ${to} --step ${stepSeconds}s --recommend '${RECOMMEND_CONDITION}'`;
  return isObject
    ? `kubectl get scalers.promscaler.dev ${name} -n ${namespace} -o yaml | ${command} backtest --scaler - ${options}`
    : `${command} backtest --scaler 'FILE#${namespace}/${name}' ${options}`;
}
