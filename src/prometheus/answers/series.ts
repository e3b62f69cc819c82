/** One element of an instant vector. The value may be NaN or infinite; samples.ts decides whether it is usable. */
export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string>>;

/** As in Prometheus, an empty label counts as absent. */
export function labelOf({ labels }: Pick<Series, 'labels'>, name: string): string | undefined {
  return labelIn(labels, name);
}

export function labelIn(labels: Labels, name: string): string | undefined {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value === '' ? undefined : value;
}
