import { instantFromSeconds } from '../../units/time.js';
import type { Answer } from './answer.js';
import type { Series } from './series.js';
import type { VectorReading } from './read-vector.js';
import { SeriesColumns } from './series-columns.js';

/**
 * Returns the answer whose series were read into columns. `why`: why it may lack data; null: no sign of that. Few
 * callers need an object for each series, so `series` is created when it is read, also by a copy of the answer.
 */
export function columnAnswer({ layout, values, seconds }: VectorReading, why: string | null): Answer {
  const columns = new SeriesColumns(layout, values);
  const vector = {
    evaluatedAt: instantFromSeconds(seconds),
    columns,
    get series(): readonly Series[] {
      return columns.series;
    },
  };
  return why === null
    ? Object.assign(vector, { class: 'value' } as const)
    : Object.assign(vector, { class: 'partial', why } as const);
}
