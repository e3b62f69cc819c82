/** The urgency of a state. It selects the color, but is never shown by color alone. */
export type Tone = 'bad' | 'warn' | 'info' | 'good' | 'quiet';
