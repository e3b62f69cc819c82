// The state of a forecast is decided and stored with the same bounds, and what is stored may not depend on decisions.

/** What a forecast has spent is summed in parts of 6 hours. */
export const PART_SECONDS = 21_600;

/** Three days. */
export const PARTS = 12;

export const MOST_RAISES = 48;
