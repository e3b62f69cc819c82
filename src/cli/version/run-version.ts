import type { CommandIo, ExitCode } from '../io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { VERSION } from './version.js';

/** Runs `version`: prints the version of this command. The version of a service is in `status -o json`. */
export function runVersion({ output }: { readonly output: string }, io: CommandIo): ExitCode {
  const format = readOutputFormat(output, ['text', 'json', 'yaml']);
  io.stdout.write(
    format === 'text' ? `promscaler ${VERSION}\n` : writeStructured(format, { version: VERSION }),
  );
  return 0;
}
