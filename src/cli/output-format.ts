import { stringify } from 'yaml';
import { CommandError } from './io.js';

/** The `-o` that was asked for; ends the command as wrong usage where it is none of `formats`. */
export function readOutputFormat<Format extends string>(asked: string, formats: readonly Format[]): Format {
  const found = formats.find((format) => format === asked);
  if (found !== undefined) return found;
  throw new CommandError(`-o is ${asked}, must be one of ${formats.join(', ')}`, 2);
}

/** A value as indented JSON, or as the same in YAML, with a newline at its end. */
export function writeStructured(format: 'json' | 'yaml', value: unknown): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  // Through JSON, so that both have the same members.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return stringify(plain, { aliasDuplicateObjects: false, lineWidth: 0 });
}
