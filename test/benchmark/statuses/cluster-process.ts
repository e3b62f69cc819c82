import { customResourceDefinition } from '../../../src/cli/schema/definition.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { startSimulator } from '../../../src/simulator/simulator.js';

/**
 * Runs an API server with Scaler objects in its own process, so that its CPU time is not the writer's. Sends its URL,
 * and answers every message with the number of objects whose status has ScalingActive False.
 */
process.on('disconnect', () => process.exit());

const count = Number(process.argv[2]);
const simulator = await startSimulator({ clock: SYSTEM_CLOCK, requestLogSize: 10, workloads: [] });
simulator.addObject(customResourceDefinition() as JsonObject);
for (let index = 0; index < count; index += 1) {
  simulator.addObject({
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: `web-${index}`, namespace: `team-${index % 100}` },
    spec: { scaleTargetRef: { name: `web-${index}` }, minReplicas: 2, maxReplicas: 20 },
  });
}
process.send?.(simulator.url);
process.on('message', () => {
  const objects = simulator.listObjects('promscaler.dev/scalers');
  process.send?.(objects.filter((object) => JSON.stringify(object['status'] ?? {}).includes(FALSE)).length);
});

const FALSE = '"type":"ScalingActive","status":"False"';
