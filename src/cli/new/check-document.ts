import type { Problem } from '../../scaler/problems/problem.js';
import { readScalers } from '../../scaler/read-scalers.js';
import { CommandError } from '../io.js';

/** What the name of a workload is called in messages. */
export const WORKLOAD_NAME = 'the name of the workload';

/** Fields by the option that fills them; the longest path of a message first. */
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
 * Checks a first document as `validate` does, and gives its warnings in the words of the options. Throws `CommandError`
 * where it has an error, which is then one of the options. `nameOption`: what gave the scaler its name.
 */
export function checkDocument(text: string, nameOption: string): readonly string[] {
  const inWords = ({ message }: Problem): string => inWordsOfOptions(message, nameOption);
  const { problems } = readScalers(text, 'the new document');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const sentences = new Set(errors.map(inWords));
    throw new CommandError([...sentences].join('\npromscaler: '), 2);
  }
  return problems.map(inWords);
}

function inWordsOfOptions(message: string, nameOption: string): string {
  return [...OPTIONS, [/metadata\.name/g, nameOption] as const].reduce(
    (text, [path, option]) => text.replace(path, option),
    message,
  );
}
