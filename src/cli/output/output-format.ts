import { stringify } from 'yaml';
import { usageError } from './io.js';

/** Parses the value of `-o`. Throws `CommandError` with exit code 2 if it is not one of `formats`. */
export function readOutputFormat<Format extends string>(value: string, formats: readonly Format[]): Format {
  const found = formats.find((format) => format === value);
  if (found !== undefined) return found;
  throw usageError(`-o is ${value}, must be one of ${formats.join(', ')}`);
}

export function writeStructured(format: 'json' | 'yaml', value: unknown): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  // Converted to JSON first, so that both formats have the same fields.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return stringify(plain, { aliasDuplicateObjects: false, lineWidth: 0 });
}
