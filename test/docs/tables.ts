import { STATE_TABLE } from '../../src/decision/state.js';
import { SEVERITIES, STATES, STATE_NAMES } from '../../src/decision/severity.js';
import { BUILT_IN, PRESETS } from '../../src/scaler/schema/presets.js';
import { PERMISSIONS, type Permission } from '../../src/service/permissions.js';
import { SEVERITY_STYLES } from '../../src/dashboard/ui/severities.js';
import { METRIC_TABLE, isInSummary } from '../../src/telemetry/metric-table.js';
import { DIRECTORY_TABLE, PACKAGE_TABLE } from '../architecture/rules.js';
import { commandTables } from './command-tables.js';
import { fieldTables } from './field-tables.js';
import { httpTables } from './http-tables.js';
import { code, markdownTable } from './markdown.js';

/** Every block that `npm run docs` writes, by its name. `sources` are the directories of `src`. */
export async function generatedTables(sources: readonly string[]): Promise<Readonly<Record<string, string>>> {
  return {
    ...fieldTables(),
    ...httpTables(),
    ...(await commandTables()),
    presets: presetTable(),
    metrics: metricTable(),
    'scaler states': stateTable(),
    'states by severity': severityTable(),
    'histogram buckets': bucketTable(),
    'permissions: scaled': permissionTable('scaled'),
    'permissions: own': permissionTable('own'),
    'permissions: cluster': permissionTable('cluster'),
    'import rules': importTable(sources),
    'package rules': packageTable(sources),
  };
}

function presetTable(): string {
  const fields = Object.keys(PRESETS.hpa) as (keyof typeof PRESETS.hpa)[];
  const valueOf = (preset: keyof typeof PRESETS, field: keyof typeof PRESETS.hpa): string => {
    const value = PRESETS[preset][field];
    if (field !== 'scaleUpLimitFactor' && field !== 'scaleUpLimitMinimum') return code(String(value));
    return value === null
      ? `${code(String(BUILT_IN[field]))} without \`behavior\``
      : `${code(String(value))}, also with \`behavior\``;
  };
  const names = ['hpa', 'chpa', 'hpa-1.11'] as const;
  return markdownTable(
    ['field', ...names.map(code)],
    fields.map((field) => [code(`spec.${field}`), ...names.map((name) => valueOf(name, field))]),
  );
}

function metricTable(): string {
  return markdownTable(
    ['metric', 'type', 'labels', 'in a summary', 'help'],
    METRIC_TABLE.map((row) => [
      code(row.name),
      row.type,
      row.labels.map(code).join(', '),
      isInSummary(row) ? 'yes' : 'no',
      row.help,
    ]),
  );
}

function stateTable(): string {
  return markdownTable(
    ['state', 'severity', 'when'],
    STATE_TABLE.map(({ state, when }) => [code(state), code(STATES[state]), when]),
  );
}

function severityTable(): string {
  return markdownTable(
    ['severity', 'states'],
    SEVERITIES.map((severity) => [
      SEVERITY_STYLES[severity].text,
      STATE_NAMES.filter((name) => STATES[name] === severity)
        .map(code)
        .join(', '),
    ]),
  );
}

function bucketTable(): string {
  return markdownTable(
    ['histogram', 'buckets in seconds'],
    METRIC_TABLE.flatMap(({ name, buckets }) =>
      buckets === undefined ? [] : [[code(name), buckets.join(', ')]],
    ),
  );
}

function permissionTable(place: Permission['where']): string {
  return markdownTable(
    ['API group', 'resource', 'verbs', 'chart value', 'used to', 'without it'],
    PERMISSIONS.filter(({ where }) => where === place).map(
      ({ group, resource, names, verbs, grantedBy, use, without }) => [
        group === '' ? 'core' : code(group),
        `${code(resource)}${names === undefined ? '' : ` ${nameRange(names)}`}`,
        verbs.join(', '),
        code(grantedBy),
        use,
        without,
      ],
    ),
  );
}

function nameRange(names: readonly string[]): string {
  const ends = names.length === 1 ? names : [names[0] ?? '', names.at(-1) ?? ''];
  return ends.map(code).join(' to ');
}

function importTable(sources: readonly string[]): string {
  return markdownTable(
    ['directory', 'may import'],
    Object.entries(DIRECTORY_TABLE)
      .filter(([directory]) => sources.includes(directory))
      .map(([directory, others]) => [
        code(directory),
        Object.entries(others)
          .filter(([other]) => sources.includes(other))
          .map(([other, access]) => `${code(other)}${access === 'types' ? ' (types)' : ''}`)
          .join(', ') || 'nothing',
      ]),
  );
}

function packageTable(sources: readonly string[]): string {
  const exists = (place: string): boolean => sources.includes(place.split('/')[0] ?? '');
  return markdownTable(
    ['package', 'imported by'],
    Object.entries(PACKAGE_TABLE).flatMap(([name, places]) => {
      const real = places.filter(exists);
      return real.length === 0 ? [] : [[code(name), real.map((place) => code(`src/${place}`)).join(', ')]];
    }),
  );
}
