import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Preloaded into the command; worker threads are a part of the same process. File descriptor 3 is a pipe.
if (isMainThread) process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)));
