import fc from 'fast-check';

// What fails once fails again, on every machine. Runs with seeds from the clock are commands of their own.
fc.configureGlobal({ seed: 1 });
