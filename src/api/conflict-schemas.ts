import { z } from 'zod';
import { time } from './decision-schemas.js';

export const conflictingWriterSchema = z
  .object({
    managers: z.array(z.string()).describe('Names in `managedFields`; empty: unknown.'),
    since: time.describe('When the third change was read.'),
    count: z
      .int()
      .optional()
      .describe('Number of replica counts of promscaler that were replaced without a break of ten minutes.'),
    last: time.optional().describe('When the last change was read.'),
    until: time.optional().describe('When the conflict ends without a further change.'),
    message: z.string(),
  })
  .nullable()
  .describe(
    'Clients that have replaced replica counts of promscaler three times within ten minutes, the last time less than ten minutes ago; null: there are none.',
  );

export const otherScalerSchema = z
  .object({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    whyNoCount: z
      .string()
      .optional()
      .describe(
        'Why the HPA has no desired replicas, and so does not scale; absent: the HPA has desired replicas, or the target has 0 replicas.',
      ),
    second: z
      .object({ kind: z.string(), namespace: z.string(), name: z.string() })
      .optional()
      .describe('Another HPA or ScaledObject with the same target; absent: there is none.'),
    scaler: z
      .object({ namespace: z.string(), name: z.string(), file: z.string().nullish() })
      .optional()
      .describe(
        'Another Scaler with the same target that is not in dry run, and that patches nothing because of this HPA or ScaledObject, with the file of its document as in `file`; absent: there is none.',
      ),
    file: z
      .string()
      .nullish()
      .describe(
        'File of the document of the other autoscaler; null: the document is an object of the cluster. Set only if the other autoscaler is a Scaler, and only in the answer for a single scaler.',
      ),
    isAlsoObject: z
      .boolean()
      .optional()
      .describe(
        'Whether an object with the same name also exists. The file takes precedence over this object.',
      ),
  })
  .nullable()
  .describe(
    'Another autoscaler with the same target: an HPA, a ScaledObject, or a Scaler that is not in dry run, which for a scaler in dry run next to an HPA is in `scaler`; null: there is none. Unless this scaler is in dry run, the two autoscalers are in conflict.',
  );
