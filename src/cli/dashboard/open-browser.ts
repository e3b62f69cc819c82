import { execFile } from 'node:child_process';
import { platform } from 'node:os';
import type { CommandIo } from '../process/io.js';

/** Opens the default browser. Returns whether the program that opens it was started and succeeded. */
export function openBrowser(url: string, { env }: Pick<CommandIo, 'env'>): Promise<boolean> {
  const [command, args] = opener(url);
  return new Promise((resolve) => {
    const child = execFile(command, [...args], { env: { ...env }, timeout: 10_000 }, (error) =>
      resolve(error === null),
    );
    child.stdin?.on('error', () => undefined).end();
  });
}

function opener(url: string): readonly [string, readonly string[]] {
  switch (platform()) {
    case 'darwin':
      return ['open', [url]];
    case 'win32':
      return ['cmd', ['/c', 'start', '', url]];
    default:
      return ['xdg-open', [url]];
  }
}
