import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system with little room. */
export interface SmallDisk {
  /** Its directory, for every process of this user. */
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** Ends with its standard input, and the mount with it. */
const HOLD = 'mount -t tmpfs -o "size=$2" none "$1" && echo mounted && cat';

/** Why `openSmallDisk` is not possible here; null if it is. */
export function whyNoSmallDisk(): string | null {
  if (process.platform !== 'linux') return 'a mount namespace needs Linux';
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-disk-'));
  const { status } = spawnSync('unshare', ['-rm', 'sh', '-c', HOLD, 'sh', folder, '64k'], { input: '' });
  rmSync(folder, { recursive: true, force: true });
  return status === 0 ? null : 'unshare may not create a mount namespace';
}

/** Mounts a tmpfs in a mount namespace of its own, which nothing outlives. */
export async function openSmallDisk(bytes: number): Promise<SmallDisk> {
  const mount = mkdtempSync(join(tmpdir(), 'promscaler-disk-'));
  // Without --fork, sh has the pid of unshare.
  const holder = spawn('unshare', ['-rm', 'sh', '-c', HOLD, 'sh', mount, String(bytes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(([code]) => {
      throw new Error(`mounting a tmpfs exited with ${String(code)}`);
    }),
  ]);
  return {
    folder: `/proc/${holder.pid}/root${mount}`,
    close: async () => {
      const exited = once(holder, 'exit');
      holder.stdin.end();
      await exited;
      rmSync(mount, { recursive: true, force: true });
    },
  };
}
