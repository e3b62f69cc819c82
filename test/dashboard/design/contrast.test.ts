import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const TOKENS = readFileSync('src/dashboard/design/tokens.css', 'utf8');
const COLORS = new Map(
  [...TOKENS.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);

type Theme = 'light' | 'dark';

/** Relative luminance and contrast of WCAG 2.2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(text: string, background: string, theme: Theme): number {
  const [one = 0, other = 0] = [text, background]
    .map((name) => luminance(COLORS.get(name)?.[theme] ?? ''))
    .sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05);
}

/** A row that has just changed has `info-bg`. */
const BACKGROUNDS = ['bg', 'surface', 'surface-2', 'info-bg'];
/** `chart-2` is the text of a load above its target. */
const TEXTS = ['text', 'text-muted', 'accent', 'good', 'info', 'warn', 'bad', 'chart-2'];

describe.each(['light', 'dark'] as const)('the %s theme', (theme) => {
  it.each(BACKGROUNDS)('has texts with a contrast of at least 4.5 on %s', (background) => {
    const low = TEXTS.filter((text) => !(contrast(text, background, theme) >= 4.5));

    expect(low).toEqual([]);
  });
});
