interface TemplateValues {
  readonly series: string;
  /** For example `namespace="$namespace"`. */
  readonly matchers: readonly string[];
  readonly groupBy: readonly string[];
  /** Values of exact matchers by label. */
  readonly valuesByName: ReadonlyMap<string, string>;
}

const ACTION = /<<([^<>]*)>>/g;
const INDEX = /^index +\.LabelValuesByName +"([^"]*)"$/;

/**
 * Fills a query template. Returns null for an action that is not supported: Go templates can do more. Source:
 * pkg/naming/metrics_query.go
 */
export function fillTemplate(template: string, values: TemplateValues): string | null {
  // `<<- .Series ->>` is equivalent to `<<.Series>>`.
  const plain = template.replace(ACTION, (_, action: string) => `<<${action.replace(/^-|-$/g, '').trim()}>>`);
  const texts: string[] = [];
  let at = 0;
  const source = withoutEmpty(plain, values);
  for (const { 0: whole, 1: action = '', index } of source.matchAll(ACTION)) {
    const value = valueOf(action, values);
    if (value === null) return null;
    texts.push(source.slice(at, index), value);
    at = index + whole.length;
  }
  const text = [...texts, source.slice(at)].join('').trim();
  return text.includes('<<') ? null : text;
}

/** Removes empty lists with their commas and brackets. */
function withoutEmpty(template: string, { matchers, groupBy }: TemplateValues): string {
  const withMatchers =
    matchers.length > 0
      ? template
      : template
          .replace(/<<\.LabelMatchers>> ?, ?/g, '')
          .replace(/, ?<<\.LabelMatchers>>/g, '')
          .replace(/\{ ?<<\.LabelMatchers>> ?\}/g, '');
  return groupBy.length > 0 ? withMatchers : withMatchers.replace(/ ?\bby ?\( ?<<\.GroupBy>> ?\)/g, '');
}

function valueOf(action: string, { series, matchers, groupBy, valuesByName }: TemplateValues): string | null {
  if (action === '.Series') return series;
  if (action === '.LabelMatchers') return matchers.join(', ');
  if (action === '.GroupBy' || action === '.GroupBySlice') return groupBy.join(', ');
  const label = INDEX.exec(action)?.[1] ?? /^\.LabelValuesByName\.(\w+)$/.exec(action)?.[1];
  return label === undefined ? null : (valuesByName.get(label) ?? null);
}
