import type { StateName } from '../../src/decision/severity.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { invalidScalers } from '../../src/telemetry/rejections.js';
import { T0 } from '../support/builders.js';
import { metricsOf } from '../telemetry/record-builder.js';
import { STATE_CASES } from '../telemetry/state-cases.js';
import type { Case } from './alert-cases.js';

/** The alert that fires while a scaler has a state, with the rest of its page of metrics; null: none. */
export const ALERT_OF: Readonly<Record<StateName, string | null>> = {
  Invalid: 'PromscalerCannotScale',
  Conflict: 'PromscalerConflict',
  NoAutoscaler: 'PromscalerCannotScale',
  NoTarget: 'PromscalerCannotScale',
  WriteFailed: 'PromscalerCannotScale',
  PodsNotReady: 'PromscalerTargetNotReached',
  NoData: 'PromscalerWithoutMetrics',
  AtMaximum: 'PromscalerAtMaximum',
  Paused: 'PromscalerPaused',
  DryRun: 'PromscalerHeld',
  Fixed: 'PromscalerHeld',
  NoSeries: 'PromscalerHeld',
  Rejected: 'PromscalerHeld',
  Pending: null,
  Starting: null,
  PartialData: null,
  Stabilizing: null,
  RateLimited: null,
  Backoff: null,
  Asleep: null,
  AtMinimum: null,
  OK: null,
};

interface Firing {
  readonly alert: string;
  readonly scaler: string;
  readonly recommended: string;
}

/** Returns the metrics that the service writes for `STATE_CASES`, and the alerts that fire after a day of them. */
export async function alertsOfStates(): Promise<
  Pick<Case, 'series'> & { readonly fires: readonly Firing[] }
> {
  const ledger = createLedger();
  const fires: Firing[] = [{ alert: ALERT_OF.Invalid ?? '', scaler: 'typo', recommended: '' }];
  const rejections = new Map([['shop/typo', { cause: 'unknown field', isUnusedObject: false }]]);
  for (const [index, [, state, , make, { rejection } = {}]] of STATE_CASES.entries()) {
    const scaler = `s${index}`;
    const { after } = ledger.add(make(scaler));
    if (rejection !== undefined) rejections.set(after.key, { cause: rejection, isUnusedObject: false });
    const { recommendedReplicas, currentReplicas = 0 } = after.record.decision ?? {};
    const isDegraded = after.conditions.some(({ reason }) => reason === 'StateDegraded');
    const needsMore = (recommendedReplicas ?? 0) > currentReplicas;
    const alerts = [
      isDegraded ? 'PromscalerStateDegraded' : ALERT_OF[state],
      needsMore && (state === 'Paused' || state === 'Fixed') ? 'PromscalerScaleUpHeld' : null,
      // A pause of a day is reported next to a state that takes precedence over it.
      after.record.pause !== null && state !== 'Paused' ? 'PromscalerPaused' : null,
    ];
    for (const alert of alerts)
      if (alert !== null) fires.push({ alert, scaler, recommended: String(recommendedReplicas) });
  }
  ledger.setRejections(rejections, T0);
  const invalid = invalidScalers(rejections, new Set([...ledger.list()].map(({ key }) => key)));
  const page = String(Buffer.concat([...(await metricsOf(ledger, { invalid: () => invalid }).render())]));
  const lines = Array.from(page.matchAll(/^(promscaler_\w+)\{(namespace="shop".*\}) (\S+)$/gm), (line) =>
    line.slice(1),
  );
  const series = lines.map(([name, labels, value]) => [
    `${name}{job="rel-promscaler",${labels}`,
    `${value}x300`,
  ]);
  return { series: Object.fromEntries(series) as Case['series'], fires };
}
