import { loadProduct } from './product.js';
import { World } from './world/world.js';

const DAY_MS = 86_400_000;
const product = await loadProduct(new URL('../../../dist/', import.meta.url));
const world = new World({ seed: 1, durationMs: DAY_MS, product, replicas: 1, faults: [] });
const started = process.cpuUsage();
await world.run(DAY_MS);
const used = process.cpuUsage(started);
console.log((used.user + used.system) / 1e6, 's CPU', world.records.length, 'records');
const kinds = new Map<string, number>();
for (const record of world.records) kinds.set(record.kind, (kinds.get(record.kind) ?? 0) + 1);
console.log(kinds);
for (const workload of world.workloads)
  console.log(workload.plan.name, workload.history.length, workload.history.slice(0, 12).map(({ atMs, replicas }) => `${Math.round(atMs / 1000)}:${replicas}`).join(' '));
console.log(world.records.filter(({ kind }) => kind === 'line').slice(0, 10));
