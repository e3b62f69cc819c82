import { afterAll, beforeAll } from '@jest/globals';
import { remediesOf } from '../../src/decision/remedies.js';
import type { TroubledScaler } from '../../src/decision/snippet.js';
import { shownQueries, type ShownQuery } from '../../src/prometheus/queries/compile-queries.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { createRecords } from '../../src/telemetry/records.js';
import { appOf, listen, type Listening } from '../cli/live-service.js';
import { aSource } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { STATE_CASES } from '../telemetry/state-cases.js';

/** The data source `default` has a UI. */
const SOURCES = new Map([['default', { ...aSource(), externalUrl: 'https://prometheus.example.com/main/' }]]);
const queriesOf = (scaler: Scaler): readonly ShownQuery[] => shownQueries(scaler, SOURCES);

export const NAMED = STATE_CASES.map(([what, state, , make], index) => ({
  what,
  state,
  make,
  name: `s${index}`,
}));

const records = createRecords(new ManualClock());
let service: Listening;

/** Starts a service with a scaler in each state before the tests of a file. */
export function serveStates(): void {
  beforeAll(async () => {
    for (const { name, make } of NAMED) records.ledger.add(make(name));
    service = await listen(appOf(records.ledger, records, { queriesOf }));
  });
  afterAll(() => service.close());
}

export function url(): string {
  return service.url;
}

/** Returns a scaler as the HTTP API has it. */
export async function read(name: string): Promise<TroubledScaler> {
  return (await (await fetch(`${service.url}/api/v1/scalers/shop/${name}`)).json()) as TroubledScaler;
}

/** Returns the name of the scaler in the state of a case. */
export function named(what: string): string {
  return NAMED.find((one) => one.what === what)?.name ?? what;
}

export async function remediesFor(
  what: string,
  fields: Partial<TroubledScaler> = {},
): Promise<readonly string[]> {
  return remediesOf({ ...(await read(named(what))), ...fields }).map(({ text, snippet }) =>
    snippet === null ? text : `${text}: ${snippet.text}`,
  );
}
