import type { CommandIo, ExitCode } from '../output/io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { VERSION } from '../output/version.js';

/** `status -o json` shows the version of the running service. */
export function runVersion({ output }: { readonly output: string }, io: CommandIo): ExitCode {
  const format = readOutputFormat(output, ['text', 'json', 'yaml']);
  io.stdout.write(
    format === 'text' ? `promscaler ${VERSION}\n` : writeStructured(format, { version: VERSION }),
  );
  return 0;
}
