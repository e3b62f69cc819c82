import { isFulfilled } from '../../scaler/label-requirement.js';
import type { LabelRequirement, LabelSelector } from '../../scaler/spec.js';
import { labelIn, type Series } from './series.js';
import { columnsOf, type SeriesColumns } from './series-columns.js';

/** Returns the series that meet all requirements, or the same array if there are no requirements. */
export function selectSeries(series: readonly Series[], selector: LabelSelector): readonly Series[] {
  const rows = selectRows(columnsOf({ series }), selector);
  return rows === null ? series : rows.map((row) => series[row]).filter((one) => one !== undefined);
}

/**
 * Returns the rows that meet all requirements; null: there are no requirements. Starts with the requirement that keeps
 * the fewest rows.
 */
export function selectRows(columns: SeriesColumns, selector: LabelSelector): readonly number[] | null {
  if (selector.length === 0) return null;
  let candidates: readonly number[] | null = null;
  let chosen: LabelRequirement | null = null;
  for (const requirement of selector) {
    if (requirement.operator !== 'In') continue;
    const some = rowsOf(columns, requirement);
    if (candidates !== null && some.length >= candidates.length) continue;
    candidates = some;
    chosen = requirement;
  }
  const rest = selector.filter((requirement) => requirement !== chosen);
  if (candidates !== null && rest.length === 0) return candidates;
  const { labels } = columns;
  return (candidates ?? Array.from(labels.keys())).filter((row) =>
    rest.every((each) => isFulfilled(each, labelIn(labels[row] ?? {}, each.key))),
  );
}

/** All scalers that use an answer share its index. */
function rowsOf(columns: SeriesColumns, { key, values }: LabelRequirement): readonly number[] {
  const index = columns.byLabel(key);
  const [value] = values;
  if (value !== undefined && values.length === 1) return index.get(value) ?? NO_ROWS;
  return Array.from(new Set(values)).flatMap((each) => index.get(each) ?? []);
}

const NO_ROWS: readonly number[] = [];
