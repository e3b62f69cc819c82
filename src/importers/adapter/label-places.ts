/** Labels of series that contain the names of objects, from `resources` of a rule. */
export interface LabelPlaces {
  /** Resource in singular form -> label: `pod`, `namespace`. */
  readonly overrides: ReadonlyMap<string, string>;
  /** For example `kube_<<.Resource>>`; null: none. */
  readonly template: string | null;
}

/**
 * Returns the label with the names of a resource (`pod`, `ingress`); null: the rule has none. `group` is its API group,
 * empty for the core group. Source: pkg/naming/resource_converter.go
 */
export function labelOf(resource: string, { overrides, template }: LabelPlaces, group = ''): string | null {
  const label = overrides.get(resource);
  if (label !== undefined) return label;
  if (template === null) return null;
  const text = template.replace(/<<-?\s*\.(Resource|Group)\s*-?>>/g, (_, field: string) =>
    field === 'Resource' ? resource : group.replace(/[.-]/g, '_'),
  );
  return /^[A-Za-z_]\w*$/.test(text) ? text : null;
}

const PLURALS: Readonly<Record<string, string>> = { ingresses: 'ingress', statuses: 'status' };

/** An override may use the singular or the plural. */
export function singularOf(resource: string): string {
  const name = resource.toLowerCase();
  const known = PLURALS[name];
  if (known !== undefined) return known;
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name;
}
