/** Type of a field. `skip`: a field that no client sets. */
export type Wire =
  | 'string'
  | 'bytes'
  | 'int'
  | 'bool'
  | 'skip'
  | { readonly message: Message }
  | { readonly list: Wire }
  | { readonly map: Wire };

/** JSON name and type of each field, by field number. */
export type Message = Readonly<Record<number, readonly [name: string, wire: Wire]>>;

const STRINGS: Wire = { map: 'string' };

const META: Message = {
  1: ['name', 'string'],
  2: ['generateName', 'string'],
  3: ['namespace', 'string'],
  8: ['creationTimestamp', 'skip'],
  11: ['labels', STRINGS],
  12: ['annotations', STRINGS],
};

const QUANTITY: Wire = { message: { 1: ['', 'string'] } };

function object(fields: Message): Message {
  return { 1: ['metadata', { message: META }], ...fields };
}

const PORT: Message = {
  1: ['name', 'string'],
  2: ['hostPort', 'int'],
  3: ['containerPort', 'int'],
  4: ['protocol', 'string'],
  5: ['hostIP', 'string'],
};

const CONTAINER: Message = {
  1: ['name', 'string'],
  2: ['image', 'string'],
  3: ['command', { list: 'string' }],
  4: ['args', { list: 'string' }],
  5: ['workingDir', 'string'],
  6: ['ports', { list: { message: PORT } }],
  7: ['env', { list: { message: { 1: ['name', 'string'], 2: ['value', 'string'] } } }],
  8: ['resources', { message: { 1: ['limits', { map: QUANTITY }], 2: ['requests', { map: QUANTITY }] } }],
  14: ['imagePullPolicy', 'string'],
};

const POD: Message = {
  2: ['containers', { list: { message: CONTAINER } }],
  3: ['restartPolicy', 'string'],
  4: ['terminationGracePeriodSeconds', 'int'],
  6: ['dnsPolicy', 'string'],
  7: ['nodeSelector', STRINGS],
  8: ['serviceAccountName', 'string'],
};

const DEPLOYMENT: Message = {
  1: ['replicas', 'int'],
  2: ['selector', { message: { 1: ['matchLabels', STRINGS] } }],
  3: ['template', { message: object({ 2: ['spec', { message: POD }] }) }],
  4: ['strategy', { message: { 1: ['type', 'string'] } }],
  5: ['minReadySeconds', 'int'],
  6: ['revisionHistoryLimit', 'int'],
  7: ['paused', 'bool'],
};

const REFERENCE: Wire = {
  message: { 1: ['kind', 'string'], 2: ['name', 'string'], 3: ['apiVersion', 'string'] },
};
const BOUNDS: Message = {
  1: ['scaleTargetRef', REFERENCE],
  2: ['minReplicas', 'int'],
  3: ['maxReplicas', 'int'],
};
const AMOUNT: Message = {
  1: ['type', 'string'],
  2: ['value', QUANTITY],
  3: ['averageValue', QUANTITY],
  4: ['averageUtilization', 'int'],
};
const METRIC: Message = {
  1: ['type', 'string'],
  4: ['resource', { message: { 1: ['name', 'string'], 2: ['target', { message: AMOUNT }] } }],
};

/**
 * The kinds that `kubectl create`, `autoscale` and `create token` send as protobuf, with the fields that these commands
 * set, by apiVersion and kind. Source: generated.proto of k8s.io/api and k8s.io/apimachinery.
 */
export const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['v1/Namespace', object({ 2: ['spec', 'skip'], 3: ['status', 'skip'] })],
  [
    'v1/ConfigMap',
    object({ 2: ['data', STRINGS], 3: ['binaryData', { map: 'bytes' }], 4: ['immutable', 'bool'] }),
  ],
  ['v1/Secret', object({ 2: ['data', { map: 'bytes' }], 3: ['type', 'string'], 4: ['stringData', STRINGS] })],
  ['v1/ServiceAccount', object({})],
  [
    'authentication.k8s.io/v1/TokenRequest',
    object({
      2: ['spec', { message: { 1: ['audiences', { list: 'string' }], 4: ['expirationSeconds', 'int'] } }],
      3: ['status', 'skip'],
    }),
  ],
  ['apps/v1/Deployment', object({ 2: ['spec', { message: DEPLOYMENT }], 3: ['status', 'skip'] })],
  [
    'autoscaling/v1/HorizontalPodAutoscaler',
    object({
      2: ['spec', { message: { ...BOUNDS, 4: ['targetCPUUtilizationPercentage', 'int'] } }],
      3: ['status', 'skip'],
    }),
  ],
  [
    'autoscaling/v2/HorizontalPodAutoscaler',
    object({
      2: ['spec', { message: { ...BOUNDS, 4: ['metrics', { list: { message: METRIC } }] } }],
      3: ['status', 'skip'],
    }),
  ],
]);
