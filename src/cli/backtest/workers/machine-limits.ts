import { readFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';

/** The resources of the machine or container that are left for this process. */
export interface MachineLimits {
  readonly processors: number;
  readonly availableBytes: number;
}

const CGROUP = '/sys/fs/cgroup';

/**
 * Reads the limits. Node.js before version 22 ignores the quotas of a cgroup. `read` returns null if the file does not
 * exist.
 */
export function readMachineLimits(read: (path: string) => string | null = readText): MachineLimits {
  const quota = cpuQuota(read(`${CGROUP}/cpu.max`));
  const left = bytesLeft(read);
  return {
    processors: Math.max(1, Math.min(availableParallelism(), quota === null ? Infinity : Math.ceil(quota))),
    availableBytes: Math.min(freemem(), left ?? Infinity),
  };
}

/** `200000 100000` is 2 processors; `max 100000` is no quota. */
function cpuQuota(text: string | null): number | null {
  const [quota = NaN, period = NaN] = (text ?? '').trim().split(' ').map(Number);
  return quota > 0 && period > 0 ? quota / period : null;
}

/** Returns the free memory in cgroups version 2 or 1; null: no limit. The page cache counts as free. */
function bytesLeft(read: (path: string) => string | null): number | null {
  const [limit, used] = ['memory.max', 'memory.current'].map((name) => numberOf(read(`${CGROUP}/${name}`)));
  const [limit1, used1] = ['limit_in_bytes', 'usage_in_bytes'].map((name) =>
    numberOf(read(`${CGROUP}/memory/memory.${name}`)),
  );
  const [most, now] = limit === null || limit === undefined ? [limit1, used1] : [limit, used];
  if (most === null || most === undefined) return null;
  const stat = read(`${CGROUP}/memory.stat`) ?? read(`${CGROUP}/memory/memory.stat`) ?? '';
  const files = Number(/^(?:total_)?inactive_file (\d+)$/m.exec(stat)?.[1] ?? 0);
  return Math.max(0, most - Math.max(0, (now ?? 0) - files));
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,20}$/.test(text.trim()) ? Number(text) : null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Estimate of the code, the heap and a young generation of default size. */
const THREAD_BYTES = 100 * 1024 * 1024;
/** Sums of the load, and the data of the run. */
const BYTES_PER_POINT = 64;
/** The main thread uses the rest. */
const SHARE_OF_THREADS = 0.75;

/** Returns how many worker threads run in parallel, at least 1. `points`: length of the history. */
export function threadsFor({ processors, availableBytes }: MachineLimits, points: number): number {
  const each = THREAD_BYTES + BYTES_PER_POINT * points;
  return Math.max(1, Math.min(processors, Math.floor((availableBytes * SHARE_OF_THREADS) / each)));
}
