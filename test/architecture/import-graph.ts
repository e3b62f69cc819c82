import type { Source } from './sources.js';

/** Loads the code of one command with `await import()`, only when that command runs. */
const COMMANDS = 'src/cli/command-line/';

/** Returns the files that are loaded with `roots`: their imports, without types, and the imports of those. */
export function filesLoadedBy(sources: readonly Source[], roots: readonly string[]): ReadonlySet<string> {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const loaded = new Set<string>(roots);
  // A set visits elements that are added during the iteration.
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
