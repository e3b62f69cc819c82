/**
 * Labels that the series of a vector may have: only `names`, or if the set is open, all labels except `names`. Always a
 * superset of the actual labels: a label that is not in the set is certainly absent.
 */
export interface LabelSet {
  readonly isOpen: boolean;
  readonly names: ReadonlySet<string>;
}

/** A larger set becomes `ANY_LABELS`, which keeps the time linear. */
const MAX_NAMES = 100;

export const ANY_LABELS: LabelSet = { isOpen: true, names: new Set() };

export const NO_LABELS: LabelSet = { isOpen: false, names: new Set() };

export function only(names: readonly string[]): LabelSet {
  return closed(new Set(names));
}

export function mayHave({ isOpen, names }: LabelSet, label: string): boolean {
  return names.has(label) !== isOpen;
}

export function isEmpty({ isOpen, names }: LabelSet): boolean {
  return !isOpen && names.size === 0;
}

export function union(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(filter(a, (name) => b.names.has(name)));
  if (a.isOpen) return open(filter(a, (name) => !b.names.has(name)));
  if (b.isOpen) return union(b, a);
  const [large, small] = a.names.size < b.names.size ? [b, a] : [a, b];
  const added = filter(small, (name) => !large.names.has(name));
  return added.size === 0 ? large : closed(new Set([...large.names, ...added]));
}

export function intersection(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(new Set([...a.names, ...b.names]));
  if (a.isOpen) return intersection(b, a);
  return closed(filter(a, (name) => mayHave(b, name)));
}

export function without(set: LabelSet, labels: readonly string[]): LabelSet {
  const present = labels.filter((label) => mayHave(set, label));
  if (present.length === 0) return set;
  if (set.isOpen) return open(new Set([...set.names, ...present]));
  const dropped = new Set(present);
  return closed(filter(set, (name) => !dropped.has(name)));
}

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
