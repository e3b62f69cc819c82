import { documentJsonSchema, serviceJsonSchema } from '../../src/cli/schema/json-schema.js';
import { code, markdownTable } from './markdown.js';
import { type SchemaRow, schemaRows } from './schema-rows.js';

/** The tables of the document reference; a field belongs to the first group whose pattern matches its path. */
const DOCUMENT_GROUPS: readonly (readonly [name: string, paths: RegExp])[] = [
  ['fields: resource metrics', /^spec\.metrics\[\]\.resource\b/],
  ['fields: container resource metrics', /^spec\.metrics\[\]\.containerResource\b/],
  ['fields: pods metrics', /^spec\.metrics\[\]\.pods\b/],
  ['fields: object metrics', /^spec\.metrics\[\]\.object\b/],
  ['fields: external metrics', /^spec\.metrics\[\]\.external\b/],
  ['fields: metrics', /^spec\.(metrics|tolerance)\b/],
  ['fields: behavior', /^spec\.behavior\b/],
  ['fields: fallback', /^spec\.fallback\b/],
  ['fields: schedules', /^spec\.schedules\b/],
  ['fields: pod deletion cost', /^spec\.podDeletionCost\b/],
  ['fields: pods', /^spec\.(cpuInitializationPeriod|initialReadinessDelay|podWarmup)Seconds$/],
  ['fields: operation', /^spec\.(syncPeriodSeconds|dryRun|paused)$/],
  ['fields: target and bounds', /^spec\.(preset|scaleTargetRef|minReplicas|maxReplicas)\b/],
  ['fields: limits', /^spec\./],
  ['fields: document', /./],
];

const SERVICE_GROUPS: readonly (readonly [name: string, paths: RegExp])[] = [
  ['fields: sign-in', /^prometheus\.NAME\.(headers|bearerTokenFile|basicAuth|oauth2|sigv4|azure|google)\b/],
  ['fields: data source TLS', /^prometheus\.NAME\.tls\b/],
  ['fields: resource queries', /^prometheus\.NAME\.resource/],
  ['fields: data sources', /^prometheus\b/],
  ['fields: kubernetes', /^kubernetes\b/],
  ['fields: scalers', /^scalers\b/],
  ['fields: server', /^server\b/],
  ['fields: metrics detail', /^metrics\b/],
  ['fields: state', /^state\b/],
  ['fields: leader election', /^leaderElection\b/],
  ['fields: record', /^record\b/],
  ['fields: notifications', /^notifications\b/],
  ['fields: log', /^log\b/],
  ['fields: service', /./],
];

/** Returns the tables of all fields of the scaler document and the service config, by the name of their block. */
export function fieldTables(): Readonly<Record<string, string>> {
  // `defaults` takes every field of `spec`, which has its rows already.
  const service = schemaRows(serviceJsonSchema()).filter(({ path }) => !path.startsWith('defaults.'));
  return {
    ...tablesOf(DOCUMENT_GROUPS, schemaRows(documentJsonSchema())),
    ...tablesOf(SERVICE_GROUPS, service),
  };
}

function tablesOf(
  groups: readonly (readonly [string, RegExp])[],
  rows: readonly SchemaRow[],
): Readonly<Record<string, string>> {
  const groupOf = (path: string): string | undefined => groups.find(([, paths]) => paths.test(path))?.[0];
  return Object.fromEntries(
    groups.map(([name]) => [name, fieldTable(rows.filter(({ path }) => groupOf(path) === name))]),
  );
}

function fieldTable(rows: readonly SchemaRow[]): string {
  return markdownTable(
    ['field', 'type', 'default', 'values', 'description'],
    rows.map((row) => [code(row.path), row.type, row.default, row.values, row.description]),
  );
}
