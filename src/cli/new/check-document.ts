import type { Problem } from '../../scaler/problems/problem.js';
import { readScalers } from '../../scaler/read/read-scalers.js';
import { CommandError } from '../process/io.js';

export const WORKLOAD_NAME = 'the name of the workload';

/** Field -> option. Longer paths precede the shorter ones that they contain. */
const OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/spec\.metrics\[\d+\]\.\w+\.target\.averageValue/g, '--average-value'],
  [/spec\.metrics\[\d+\]\.\w+\.target\.value/g, '--value'],
  [/spec\.metrics\[\d+\]\.\w+\.query/g, '--query'],
  [/spec\.scaleTargetRef\.name/g, WORKLOAD_NAME],
  [/spec\.scaleTargetRef\.(?:kind|apiVersion)/g, 'the kind of the workload'],
  [/spec\.minReplicas/g, '--min'],
  [/spec\.maxReplicas/g, '--max'],
  [/spec\.preset/g, '--preset'],
  [/metadata\.namespace/g, '--namespace'],
  [/an Object or External metric/g, '--query with a total (an External metric)'],
];

/**
 * Returns warnings about the new document, with option names instead of field names. Throws `CommandError` for errors.
 * `nameOption` is the option that set the name of the scaler.
 */
export function checkDocument(text: string, nameOption: string): readonly string[] {
  const describe = ({ message }: Problem): string => withOptionNames(message, nameOption);
  const { problems } = readScalers(text, 'the new document');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const sentences = new Set(errors.map(describe));
    throw new CommandError([...sentences].join('\npromscaler: '), 2);
  }
  return problems.map(describe);
}

function withOptionNames(message: string, nameOption: string): string {
  return [...OPTIONS, [/metadata\.name/g, nameOption] as const].reduce(
    (text, [path, option]) => text.replace(path, option),
    message,
  );
}
