import type { Source } from './sources.js';

/** Its `await import()` loads the code of one command, and only if that command is run. */
const COMMANDS = 'src/cli/command-line/';

/** Returns the files that are loaded with `roots`: their imports, without types, and the imports of those. */
export function filesLoadedBy(sources: readonly Source[], roots: readonly string[]): ReadonlySet<string> {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const loaded = new Set<string>(roots);
  // A set visits what is added while it is iterated.
  for (const file of loaded) {
    const source = byFile.get(file);
    if (source === undefined) throw new Error(`there is no ${file}`);
    for (const { file: imported, isTypeOnly, isDynamic } of source.imports) {
      const isCommand = isDynamic && file.startsWith(COMMANDS);
      if (imported !== null && !isTypeOnly && !isCommand) loaded.add(imported);
    }
  }
  return loaded;
}
