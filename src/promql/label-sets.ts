/**
 * The names of labels that the series of a vector may have: `names` and no others, or, where it is open, all but
 * `names`. Always a superset of the truth: a label that is left out is surely not there.
 */
export interface LabelSet {
  readonly isOpen: boolean;
  readonly names: ReadonlySet<string>;
}

/** More names than a series has: beyond that nothing is known, which keeps the work linear. */
const MAX_NAMES = 100;

/** Any labels. */
export const ANY_LABELS: LabelSet = { isOpen: true, names: new Set() };

/** No labels at all. */
export const NO_LABELS: LabelSet = { isOpen: false, names: new Set() };

/** These labels at most. */
export function only(names: readonly string[]): LabelSet {
  return closed(new Set(names));
}

/** Whether a series may have the label. */
export function mayHave({ isOpen, names }: LabelSet, label: string): boolean {
  return names.has(label) !== isOpen;
}

/** Whether no label can be there. */
export function isEmpty({ isOpen, names }: LabelSet): boolean {
  return !isOpen && names.size === 0;
}

/** The labels of either set. */
export function union(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(filter(a, (name) => b.names.has(name)));
  if (a.isOpen) return open(filter(a, (name) => !b.names.has(name)));
  if (b.isOpen) return union(b, a);
  const [large, small] = a.names.size < b.names.size ? [b, a] : [a, b];
  const added = filter(small, (name) => !large.names.has(name));
  return added.size === 0 ? large : closed(new Set([...large.names, ...added]));
}

/** The labels of both sets. */
export function intersection(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(new Set([...a.names, ...b.names]));
  if (a.isOpen) return intersection(b, a);
  return closed(filter(a, (name) => mayHave(b, name)));
}

/** The set without some labels. */
export function without(set: LabelSet, labels: readonly string[]): LabelSet {
  const present = labels.filter((label) => mayHave(set, label));
  if (present.length === 0) return set;
  if (set.isOpen) return open(new Set([...set.names, ...present]));
  const dropped = new Set(present);
  return closed(filter(set, (name) => !dropped.has(name)));
}

/** Those of `labels` that are in the set. */
export function keep(set: LabelSet, labels: readonly string[]): LabelSet {
  return only(labels.filter((label) => mayHave(set, label)));
}

function filter({ names }: LabelSet, isKept: (name: string) => boolean): ReadonlySet<string> {
  return new Set([...names].filter(isKept));
}

function closed(names: ReadonlySet<string>): LabelSet {
  return names.size > MAX_NAMES ? ANY_LABELS : { isOpen: false, names };
}

function open(names: ReadonlySet<string>): LabelSet {
  return names.size > MAX_NAMES ? ANY_LABELS : { isOpen: true, names };
}
