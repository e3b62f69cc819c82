import { CommandError } from './io.js';

/** The `-o` that was asked for; ends the command as wrong usage where it is none of `formats`. */
export function readOutputFormat<Format extends string>(asked: string, formats: readonly Format[]): Format {
  const found = formats.find((format) => format === asked);
  if (found !== undefined) return found;
  throw new CommandError(`-o is ${asked}, must be one of ${formats.join(', ')}`, 2);
}
