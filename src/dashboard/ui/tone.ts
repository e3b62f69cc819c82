/** How much a state asks for attention; it selects the color, never alone. */
export type Tone = 'bad' | 'warn' | 'info' | 'good' | 'quiet';
