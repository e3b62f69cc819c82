import type { Figures } from '../figures/figures.js';

interface Judged {
  readonly name: string;
  /** Null: the variant could not run. */
  readonly figures: Figures | null;
}

interface Variant extends Judged {
  readonly figures: Figures;
}

/** Points of theta_U within which the risk is about the same, as for a recommendation. */
const SAME_RISK = 0.05;

/**
 * Returns a sentence that says which variant is better than the first one, by how much, and at what risk. Better: fewer
 * pod-hours at about the same under-provisioning. Null: no variant has figures.
 */
export function verdictOf(variants: readonly Judged[]): string | null {
  const [first, ...others] = variants.filter((one): one is Variant => one.figures !== null);
  if (first === undefined) return null;
  const facts = `needs ${hours(first)} pod-hours and has ${risk(first)}`;
  if (others.length === 0) return `${first.name} ${facts}.`;

  const most = first.figures.thetaU + SAME_RISK + Number.EPSILON;
  const cheaper = others
    .filter(({ figures }) => figures.podHours < first.figures.podHours)
    .sort((a, b) => a.figures.podHours - b.figures.podHours);
  const better = cheaper.find(({ figures }) => figures.thetaU <= most);
  if (better !== undefined)
    return `${better.name} is better than ${first.name}: it needs ${difference(better, first)} at about the same risk: it has ${bothRisks(better, first)}.`;

  const none = `No variant is better than ${first.name}:`;
  const [leastRisky] = cheaper.sort((a, b) => a.figures.thetaU - b.figures.thetaU);
  if (leastRisky !== undefined)
    return `${none} ${leastRisky.name} needs ${difference(leastRisky, first)}, but has ${bothRisks(leastRisky, first)}.`;
  const [safer] = others
    .filter(({ figures }) => figures.thetaU < first.figures.thetaU)
    .sort((a, b) => a.figures.podHours - b.figures.podHours);
  if (safer !== undefined)
    return `${none} ${safer.name} has ${bothRisks(safer, first)}, but needs ${difference(safer, first)}.`;
  return `${first.name} is the best: it ${facts}; each other variant needs more or risks more.`;
}

function risk({ figures: { tauU } }: Variant): string {
  return `too few pods in ${tauU.toFixed(1)} % of the time`;
}

function bothRisks(one: Variant, first: Variant): string {
  return `${risk(one)}, ${first.name} in ${first.figures.tauU.toFixed(1)} %`;
}

function hours({ figures: { podHours } }: Variant): string {
  return podHours.toFixed(podHours > 0 && podHours < 1 ? 2 : 1);
}

function difference(one: Variant, first: Variant): string {
  const [now, before] = [one.figures.podHours, first.figures.podHours];
  const percent = before === 0 ? '' : `${((100 * Math.abs(now - before)) / before).toFixed(1)} % `;
  return `${percent}${now < before ? 'fewer' : 'more'} pod-hours (${hours(one)}, not ${hours(first)})`;
}
