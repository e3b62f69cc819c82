import type { CommandIo } from './io.js';

export interface Progress {
  readonly add: (parts: number) => void;
  readonly done: () => void;
}

/** Writes the progress to a terminal, in a single line that is cleared at the end. */
export function createProgress(
  { stderr }: Pick<CommandIo, 'stderr'>,
  describe: (finished: number, total: number) => string,
): Progress & { readonly clear: () => void } {
  let total = 0;
  let finished = 0;
  const print = (text: string): void => {
    if (stderr.isTerminal) stderr.write(`\r\u001B[K${text}`);
  };
  return {
    add: (parts) => void (total += parts),
    done: () => {
      finished += 1;
      print(describe(finished, total));
    },
    clear: () => {
      if (finished > 0) print('');
    },
  };
}
