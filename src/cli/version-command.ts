import type { CommandIo, ExitCode } from './io.js';
import { readOutputFormat, writeStructured } from './output-format.js';
import { VERSION } from './version.js';

/** `version`: prints the version of this command. No service is asked: `status -o json` has that of a service. */
export function runVersion({ output }: { readonly output: string }, io: CommandIo): ExitCode {
  const format = readOutputFormat(output, ['text', 'json', 'yaml']);
  io.stdout.write(
    format === 'text' ? `promscaler ${VERSION}\n` : writeStructured(format, { version: VERSION }),
  );
  return 0;
}
